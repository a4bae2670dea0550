"""Subscriptions by themselves."""

from wireloom.protocols.signalhub.hub.connections import Actor, Client, Input
from wireloom.protocols.signalhub.hub.encodings import JSON, PACKED, Encoding
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.hub.topics import Topics, forget, restored, store, subscription_id
from wireloom.wire.session import Opened

SETTINGS = HubSettings(secret=bytes(32))


def test_the_id_of_a_subscription_follows_from_actor_and_topic() -> None:
    ids = {subscription_id(actor, topic) for actor in ("@(a)", "@(b)") for topic in ("t", "u")}
    assert len(ids) == 4
    assert subscription_id("@(a)", "t") in ids


def test_subscribers_are_counted_once() -> None:
    topics, actor = Topics(9), Actor("@(a)")
    assert topics.add(actor, "t", "me", durable=False) is False
    assert topics.add(actor, "t", "me", durable=True) is False
    assert topics.add(actor, "t", "me", durable=True) is True
    assert topics.shares.count == 1
    assert list(topics.subscribers("t")) == [actor]
    assert topics.has(actor, "t")
    assert not topics.has(actor, "u")
    assert not topics.subscribers("u")


def connected(address: str, line: int, encoding: Encoding = JSON) -> Actor:
    actor = Actor(address)
    client = Client(Opened(line, "peer"), SETTINGS, f"line-{line}", 0)
    client.speak(encoding)
    client.identify(actor)
    actor.client = client
    return actor


def test_an_audience_is_who_can_take_a_message_by_encoding() -> None:
    topics = Topics(9)
    ann, bob, cat = connected("@(a)", 1), connected("@(b)", 2, PACKED), connected("@(c)", 3)
    for actor in (ann, bob, cat, Actor("@(away)")):
        topics.add(actor, "t", "me", durable=True)
    assert cat.client is not None
    cat.client.advance(Input.SEND_PAUSE)
    packed, text = topics.audiences("t")
    assert text == ([1], [b'"@(a)"'])
    assert packed == ([2], [b"\xa4@(b)"])
    assert topics.audiences("none") == (([], []), ([], []))


def test_an_audience_is_the_same_object_until_something_changes() -> None:
    topics, ann, bob = Topics(9), connected("@(a)", 1), connected("@(b)", 2)
    topics.add(ann, "t", "me", durable=True)
    first = topics.audiences("t")[1].lines
    assert topics.audiences("t")[1].lines is first
    topics.add(bob, "t", "me", durable=False)
    assert topics.audiences("t")[1].lines == [1, 2]
    assert bob.client is not None
    bob.client.advance(Input.SEND_PAUSE)
    topics.refresh(bob)
    assert topics.audiences("t")[1].lines == [1]
    bob.client.advance(Input.SEND_RESUME)
    topics.refresh(bob)
    ann.client = None
    topics.refresh(ann)
    assert topics.audiences("t")[1].lines == [2]
    topics.leave(bob)
    assert topics.audiences("t")[1].lines == []
    assert first == [1]
    assert vars(topics)["_audiences"] == {}


def test_a_topic_without_subscribers_is_forgotten() -> None:
    topics, actor, other = Topics(9), Actor("@(a)"), Actor("@(b)")
    for one in (actor, other):
        topics.add(one, "t", "me", durable=False)
    name = subscription_id("@(a)", "t")
    assert topics.remove(actor, name) == []
    assert list(topics.subscribers("t")) == [other]
    assert topics.remove(other, subscription_id("@(b)", "t")) == []
    assert topics.shares.count == 0
    assert vars(topics)["_by_topic"] == {}


def test_leaving_ends_what_is_not_durable() -> None:
    topics, actor = Topics(9), Actor("@(a)")
    topics.add(actor, "brief", "me", durable=False)
    topics.add(actor, "lasting", "me", durable=True)
    topics.leave(actor)
    assert list(actor.subscriptions.values()) == ["lasting"]
    assert topics.clear(actor) == [forget(subscription_id("@(a)", "lasting"))]
    assert topics.shares.count == 0


def test_a_subscription_comes_back_from_the_store_as_it_was() -> None:
    stored = store(Actor("@(a)"), "t", "me")
    assert (stored.kind, stored.key) == ("subscription", subscription_id("@(a)", "t"))
    record = restored(stored.value)
    assert record is not None
    assert (record.actor, record.topic, record.account) == ("@(a)", "t", "me")
    assert restored(b"[]") is None
