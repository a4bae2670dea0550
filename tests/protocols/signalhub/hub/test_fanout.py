"""Messages to many, as transcripts."""

from typing import Any

import pytest

from protocols.signalhub.transcript import HUB, Client, Transcript, note
from wireloom.wire.rates import Rate

ADA, BOB, CYD = "@(a/ada)", "@(b/bob)", "@(c/cyd)"


def publishes(client: Client, topic: str = "news", payload: Any = None, **fields: Any) -> str:
    return client.says("hub:publish", {"topic": topic, "message": note(payload=payload)}, **fields)


def broadcasts(client: Client, payload: Any = None, **fields: Any) -> str:
    body = {"message": note("sys:note", payload), **fields.pop("body", {})}
    return client.says("hub:broadcast", body, **fields)


def crowd(hub: Transcript, count: int) -> list[Client]:
    """So many clients, each registered."""
    clients = [hub.client(f"@(x/{number:03d})") for number in range(count)]
    for client in clients:
        client.registers()
    return clients


def test_a_publication_reaches_every_subscriber_with_an_id_of_its_own() -> None:
    hub = Transcript()
    ada, bob, cyd = (hub.client(one) for one in (ADA, BOB, CYD))
    bob.subscribes("news")
    cyd.subscribes("news")
    asked = publishes(ada, payload={"n": 1}, ttl=9_000)
    ids = {
        one.hears(
            "chat:line",
            to=one.address,
            payload={"n": 1},
            correlationId=asked,
            ttl=9_000,
            metadata={
                "forwarded": True,
                "via": HUB,
                "originalMessageId": asked,
                "publication": True,
                "topic": "news",
            },
            **{"from": ADA},
        )["id"]
        for one in (bob, cyd)
    }
    assert len(ids | {asked}) == 3
    ada.hears("hub:published", correlationId=asked, payload={"topic": "news", "subscriberCount": 2})
    hub.concludes("forwarded")


def test_a_publisher_that_subscribed_gets_its_own() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.subscribes("news")
    publishes(ada)
    ada.hears("chat:line")
    ada.hears("hub:published", payload__subscriberCount=1)


def test_topics_match_exactly() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.subscribes("news/local")
    for topic in ("news", "news/local/x", "NEWS/local"):
        publishes(ada, topic)
        ada.hears("hub:published", payload__subscriberCount=0)


@pytest.mark.parametrize("topic", ["", "a b", "x" * 257, "é", "a*"])
def test_a_topic_that_is_none_is_an_error(topic: str) -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.asks("hub:subscribe", {"topic": topic})
    ada.hears("hub:error", payload__details__reason="invalid_message")
    hub.concludes("rejected", "malformed")


def test_subscribing_twice_is_the_same_subscription() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    names = {ada.subscribes("news") for _ in range(2)}
    assert len(names) == 1
    assert bob.subscribes("news") not in names
    publishes(bob)
    ada.hears("chat:line")
    ada.hears_nothing()


def test_an_unsubscribed_client_gets_nothing_more() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    name = ada.subscribes("news", durable=True)
    ada.subscribes("other")
    ada.says("hub:unsubscribe", {"subscriptionId": name})
    hub.concludes("accepted")
    assert hub.kinds() == []
    publishes(ada)
    ada.hears("hub:published", payload__subscriberCount=0)
    publishes(ada, "other")
    ada.hears("chat:line")


def test_nobody_ends_the_subscription_of_another() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    name = ada.subscribes("news")
    bob.says("hub:unsubscribe", {"subscriptionId": name})
    bob.hears_nothing()
    hub.concludes("accepted")
    publishes(bob)
    ada.hears("chat:line")


def test_a_subscription_ends_with_its_connection_unless_it_is_durable() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    ada.subscribes("brief")
    name = ada.subscribes("lasting", durable=True)
    publishes(bob, "lasting")
    ada.hears("chat:line")
    bob.hears("hub:published", payload__subscriberCount=1)
    ada.leaves()
    publishes(bob, "lasting")
    bob.hears("hub:published", payload__subscriberCount=0)
    ada = hub.client(ADA)
    ada.hears_nothing()
    publishes(bob, "brief")
    bob.hears("hub:published", payload__subscriberCount=0)
    publishes(bob, "lasting")
    bob.hears("hub:published", payload__subscriberCount=1)
    ada.hears("chat:line")
    assert ada.subscribes("lasting", durable=True) == name


def test_a_durable_subscription_survives_a_crash() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    name = ada.subscribes("lasting", durable=True)
    ada.subscribes("brief")
    hub.crashes()
    ada, bob = hub.client(ADA), hub.client(BOB)
    publishes(bob, "lasting")
    ada.hears("chat:line")
    publishes(bob, "brief")
    ada.hears_nothing()
    ada.says("hub:unsubscribe", {"subscriptionId": name})
    assert hub.kinds() == []


def test_a_durable_subscription_may_become_a_brief_one() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.subscribes("news", durable=True)
    ada.subscribes("news", durable=True)
    assert hub.kinds() == ["subscription"]
    ada.subscribes("news")
    assert hub.kinds() == []
    ada.leaves()
    bob = hub.client(BOB)
    publishes(bob)
    bob.hears("hub:published", payload__subscriberCount=0)


def test_durable_subscriptions_of_who_stays_away_end_after_a_day() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.subscribes("news", durable=True)
    ada.leaves()
    hub.passes(86_399_999)
    assert hub.kinds() == ["subscription"]
    hub.passes(1)
    assert hub.kinds() == []
    assert hub.session.gauges()["subscriptions"] == 0


def test_who_comes_back_in_time_keeps_its_subscriptions() -> None:
    hub = Transcript(silence_ms=200_000_000)
    ada = hub.client(ADA)
    ada.subscribes("news", durable=True)
    ada.leaves()
    hub.passes(80_000_000)
    ada = hub.client(ADA)
    hub.passes(80_000_000)
    ada.leaves()
    hub.passes(80_000_000)
    assert hub.kinds() == ["subscription"]


def test_an_actor_has_a_hundred_subscriptions_and_no_more() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    for number in range(100):
        ada.subscribes(f"t{number}")
    asked = ada.asks("hub:subscribe", {"topic": "t100"})
    ada.hears(
        "hub:error",
        correlationId=asked,
        payload__code="internal_error",
        payload__details__reason="limit_reached",
    )
    hub.concludes("rejected", "queue_full")
    ada.subscribes("t99", durable=True)


def test_a_million_subscriptions_are_refused_in_time() -> None:
    hub = Transcript(max_all_subscriptions=5)
    for number in range(3):
        hub.client(f"@(a/{number})").subscribes("news")
    bob = hub.client(BOB)
    bob.asks("hub:subscribe", {"topic": "news"})
    bob.hears("hub:error", payload__details__reason="limit_reached")
    hub.client(CYD, peer="192.0.2.2:1").subscribes("news")
    assert hub.session.gauges()["subscriptions"] == 4


def test_subscribers_of_both_encodings_get_a_publication() -> None:
    hub = Transcript()
    ada, bob, cyd = hub.client(ADA), hub.client(BOB, packed=True), hub.client(CYD)
    for one in (ada, bob, cyd):
        one.subscribes("news")
    publishes(bob, payload={"é": [1, -2.5, None, True]})
    for one in (ada, bob, cyd):
        one.hears("chat:line", payload={"é": [1, -2.5, None, True]}, to=one.address)
    bob.hears("hub:published", payload__subscriberCount=3)


def test_a_subscriber_whose_encoding_cannot_carry_it_is_not_counted() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB, packed=True)
    for one in (ada, bob):
        one.subscribes("news")
    publishes(ada, payload=2**70)
    ada.hears("chat:line", payload=2**70)
    ada.hears("hub:published", payload__subscriberCount=1)
    bob.hears_nothing()


def test_a_publication_too_large_to_pass_on_reaches_nobody() -> None:
    hub = Transcript(max_message_size=2_000)
    ada = hub.client(ADA)
    ada.subscribes("news")
    publishes(ada, payload="x" * 1_500)
    ada.hears("hub:published", payload__subscriberCount=0)


def test_a_paused_subscriber_misses_publications_and_is_not_counted() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    bob.subscribes("news")
    publishes(ada, payload=0)
    bob.hears("chat:line", payload=0)
    ada.hears("hub:published", payload__subscriberCount=1)
    bob.lags(1_001)
    bob.hears("hub:pause")
    publishes(ada, payload=1)
    ada.hears("hub:published", payload__subscriberCount=0)
    bob.lags(0)
    bob.hears("hub:resume")
    publishes(ada, payload=2)
    bob.hears("chat:line", payload=2)


@pytest.mark.parametrize("type_", ["hub:publish", "hub:broadcast"])
def test_no_message_to_many_passes_for_the_hubs_own(type_: str) -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    body = {"message": note("hub:pause"), **({"topic": "t"} if type_ == "hub:publish" else {})}
    asked = ada.says(type_, body)
    ada.hears("hub:unauthorized", correlationId=asked, payload__action=type_[4:])
    hub.concludes("rejected", "unauthorized")


def test_a_broadcast_reaches_all_registered_actors() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    hub.client(CYD)
    ada.registers()
    bob.registers()
    bob.registers("@(b/second)")
    asked = broadcasts(ada, 1)
    for one, to in ((ada, ADA), (bob, BOB), (bob, "@(b/second)")):
        one.hears(
            "sys:note",
            to=to,
            payload=1,
            correlationId=asked,
            metadata={
                "forwarded": True,
                "via": HUB,
                "originalMessageId": asked,
                "broadcast": True,
            },
        )
    ada.hears(
        "hub:broadcast_ack",
        correlationId=asked,
        payload={"messageId": asked, "deliveredCount": 3, "queuedCount": 0, "failedCount": 0},
    )
    hub.concludes("forwarded")


def test_a_broadcast_may_leave_out_its_sender() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    for one in (ada, bob):
        one.registers()
    ada.registers("@(a/second)")
    broadcasts(ada, body={"excludeSelf": True})
    ada.hears("hub:broadcast_ack", payload__deliveredCount=1)
    bob.hears("sys:note")


def test_a_broadcast_may_be_for_a_capability() -> None:
    hub = Transcript()
    ada, bob, cyd = (hub.client(one) for one in (ADA, BOB, CYD))
    bob.registers(capabilities=["compute", "render"])
    cyd.registers(capabilities=["render"])
    broadcasts(ada, metadata={"targetCapability": "compute"})
    ada.hears("hub:broadcast_ack", payload__deliveredCount=1, payload__failedCount=0)
    bob.hears("sys:note")
    cyd.hears_nothing()


def test_actors_that_are_away_or_paused_count_as_failed() -> None:
    hub = Transcript()
    ada, bob, cyd = (hub.client(one) for one in (ADA, BOB, CYD))
    bob.registers()
    cyd.registers()
    bob.leaves()
    cyd.lags(1_001)
    broadcasts(ada)
    ada.hears("hub:broadcast_ack", payload__deliveredCount=0, payload__failedCount=2)


def test_a_broadcast_to_a_hundred_is_delivered_at_once() -> None:
    hub = Transcript()
    everyone = crowd(hub, 100)
    broadcasts(everyone[0])
    for one in everyone:
        one.hears("sys:note")
    everyone[0].hears("hub:broadcast_ack", payload__deliveredCount=100, payload__queuedCount=0)


def test_a_broadcast_to_more_is_queued_and_delivered_in_slices() -> None:
    hub = Transcript(slice_count=100, slice_pause_ms=10)
    everyone = crowd(hub, 250)
    everyone[7].leaves()
    asked = broadcasts(everyone[0], 5)
    everyone[0].hears(
        "hub:broadcast_ack",
        payload={"messageId": asked, "deliveredCount": 0, "queuedCount": 249, "failedCount": 1},
    )
    counts = []
    for _ in range(4):
        counts.append(sum(bool(one.heard) for one in everyone))
        hub.passes(10)
    assert counts == [0, 99, 199, 249]
    assert everyone[249].hears("sys:note", payload=5)["to"] == everyone[249].address
    assert hub.session.gauges()["pending"] == 0


def test_two_queued_broadcasts_follow_each_other() -> None:
    hub = Transcript(sync_broadcast_max=2)
    everyone = crowd(hub, 3)
    for number in (1, 2):
        broadcasts(everyone[0], number)
    everyone[0].asks("hub:queue_stats", {})
    for _ in range(2):
        everyone[0].hears("hub:broadcast_ack")
    everyone[0].hears("hub:queue_stats_response", payload__queueDepth=6)
    hub.passes(1_000)
    for one in everyone:
        assert [one.hears("sys:note")["payload"] for _ in range(2)] == [1, 2]


def test_a_queued_broadcast_ends_with_its_lifetime() -> None:
    hub = Transcript(sync_broadcast_max=2, slice_count=2, slice_pause_ms=10)
    everyone = crowd(hub, 5)
    broadcasts(everyone[0], ttl=15)
    everyone[0].hears("hub:broadcast_ack")
    hub.passes(1_000)
    assert [len(one.heard) for one in everyone] == [1, 1, 0, 0, 0]


def test_a_stopping_hub_delivers_what_it_has_queued() -> None:
    hub = Transcript(sync_broadcast_max=2)
    everyone = crowd(hub, 5)
    broadcasts(everyone[0])
    everyone[0].hears("hub:broadcast_ack")
    hub.stops()
    for one in everyone:
        one.hears("sys:note")
        one.hears("hub:disconnect", payload__reason="server_shutdown")


def test_broadcasts_under_way_are_bounded() -> None:
    hub = Transcript(sync_broadcast_max=2, max_broadcasts=1)
    everyone = crowd(hub, 3)
    broadcasts(everyone[0])
    everyone[0].hears("hub:broadcast_ack")
    asked = broadcasts(everyone[0])
    everyone[0].hears("hub:error", correlationId=asked, payload__details__reason="queue_full")
    hub.concludes("rejected", "queue_full")


def test_broadcasts_are_limited_in_a_minute_also_over_a_reconnect() -> None:
    hub = Transcript(broadcast_rate=Rate(10, 60_000))
    ada = hub.client(ADA)
    for _ in range(10):
        broadcasts(ada)
        ada.hears("hub:broadcast_ack")
    ada.leaves()
    ada = hub.client(ADA)
    broadcasts(ada)
    ada.hears("hub:rate_limited", payload={"retryAfter": 6_000})
    hub.concludes("rejected", "rate_limited")


def test_an_actor_with_unfit_encoding_counts_as_failed() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB, packed=True)
    bob.registers()
    broadcasts(ada, 2**70)
    ada.hears("hub:broadcast_ack", payload__deliveredCount=0, payload__failedCount=1)
