"""Subscriptions by themselves."""

from wireloom.protocols.signalhub.roster import Actor
from wireloom.protocols.signalhub.topics import Topics, forget, restored, store, subscription_id


def test_the_id_of_a_subscription_follows_from_actor_and_topic() -> None:
    ids = {subscription_id(actor, topic) for actor in ("@(a)", "@(b)") for topic in ("t", "u")}
    assert len(ids) == 4
    assert subscription_id("@(a)", "t") in ids


def test_subscribers_are_counted_once() -> None:
    topics, actor = Topics(), Actor("@(a)")
    assert topics.add(actor, "t", durable=False) is False
    assert topics.add(actor, "t", durable=True) is False
    assert topics.add(actor, "t", durable=True) is True
    assert topics.count == 1
    assert list(topics.subscribers("t")) == [actor]
    assert topics.has(actor, "t")
    assert not topics.has(actor, "u")
    assert not topics.subscribers("u")


def test_a_topic_without_subscribers_is_forgotten() -> None:
    topics, actor, other = Topics(), Actor("@(a)"), Actor("@(b)")
    for one in (actor, other):
        topics.add(one, "t", durable=False)
    name = subscription_id("@(a)", "t")
    assert topics.remove(actor, name) == []
    assert list(topics.subscribers("t")) == [other]
    assert topics.remove(other, subscription_id("@(b)", "t")) == []
    assert topics.count == 0
    assert vars(topics)["_by_topic"] == {}


def test_leaving_ends_what_is_not_durable() -> None:
    topics, actor = Topics(), Actor("@(a)")
    topics.add(actor, "brief", durable=False)
    topics.add(actor, "lasting", durable=True)
    topics.leave(actor)
    assert list(actor.subscriptions.values()) == ["lasting"]
    assert topics.clear(actor) == [forget(subscription_id("@(a)", "lasting"))]
    assert topics.count == 0


def test_a_subscription_comes_back_from_the_store_as_it_was() -> None:
    stored = store(Actor("@(a)"), "t")
    assert (stored.kind, stored.key) == ("subscription", subscription_id("@(a)", "t"))
    record = restored(stored.value)
    assert record is not None
    assert (record.actor, record.topic) == ("@(a)", "t")
    assert restored(b"[]") is None
