"""Messages to many in slices, as transcripts."""

from typing import Any

from protocols.signalhub.transcript import Client, Transcript, note
from wireloom.wire.session import Command, Send

ADA = "@(a/ada)"
MIB = 1 << 20
LARGE = "x" * 100_000


class Weighed(Transcript):
    """Knows how many bytes each millisecond sent to others."""

    def __init__(self, **settings: Any) -> None:
        self.sent: dict[int, int] = {}
        super().__init__(slice_pause_ms=4, **settings)

    def notes(self, command: Command) -> None:
        super().notes(command)
        if isinstance(command, Send) and command.outcome is not None:
            self.sent[self.now_ms] = self.sent.get(self.now_ms, 0) + len(command.raw)


def audience(hub: Transcript, count: int, topic: str = "news") -> list[Client]:
    clients = [hub.client(f"@(x/{number:03d})", packed=number % 3 == 0) for number in range(count)]
    for client in clients:
        client.subscribes(topic)
    return clients


def publishes(client: Client, payload: Any, topic: str = "news", **more: Any) -> str:
    return client.says("hub:publish", {"topic": topic, "message": note("n", payload)}, **more)


def payloads(client: Client) -> list[Any]:
    taken = [one.payload for one in client.heard]
    client.heard.clear()
    return taken


def test_a_large_publication_leaves_in_slices_and_all_get_it() -> None:
    hub = Weighed(slice_size=MIB)
    clients, ada = audience(hub, 50), hub.client(ADA)
    publishes(ada, LARGE)
    ada.hears("hub:published", payload__subscriberCount=50)
    assert hub.sent == {}
    assert hub.session.gauges()["pending"] == 50
    assert 100_000 < hub.session.gauges()["pending_bytes"] < 600_000
    hub.passes(100)
    assert [payloads(one) for one in clients] == [[LARGE]] * 50
    assert max(hub.sent.values()) <= MIB + 110_000
    assert len(hub.sent) >= 5
    assert hub.session.gauges()["pending"] == hub.session.gauges()["pending_bytes"] == 0


def test_many_publications_of_one_turn_share_what_it_may_send() -> None:
    hub = Weighed(slice_size=MIB)
    clients, ada = audience(hub, 8), hub.client(ADA)
    for number in range(20):
        publishes(ada, f"{number}{LARGE}")
    assert hub.sent[hub.now_ms] <= MIB
    hub.passes(1_000)
    for one in clients:
        assert [heard[:2] for heard in payloads(one)] == [f"{n}xx"[:2] for n in range(20)]
    assert max(hub.sent.values()) <= MIB + 110_000


def test_a_small_publication_does_not_overtake_a_large_one() -> None:
    hub = Weighed(slice_size=MIB)
    clients, ada, bob = audience(hub, 30), hub.client(ADA), hub.client("@(b)")
    publishes(ada, LARGE)
    publishes(ada, 1)
    publishes(bob, 2)
    clients[0].subscribes("other")
    publishes(bob, 3, "other")
    assert payloads(clients[0]) == [3]
    hub.passes(100)
    for one in clients:
        assert payloads(one) == [LARGE, 1, 2]


def test_a_small_broadcast_does_not_overtake_a_queued_one() -> None:
    hub = Transcript(sync_broadcast_max=5)
    clients = [hub.client(f"@(x/{number})") for number in range(7)]
    for number, client in enumerate(clients):
        client.registers(capabilities=["some"] if number < 2 else ["other"])
    clients[0].says("hub:broadcast", {"message": note("b", 1)})
    wish = {"targetCapability": "some"}
    clients[0].says("hub:broadcast", {"message": note("b", 2)}, metadata=wish)
    for _ in range(2):
        clients[0].hears("hub:broadcast_ack", payload__deliveredCount=0)
    hub.passes(100)
    assert [payloads(one) for one in clients] == [[1, 2]] * 2 + [[1]] * 5


def test_who_left_was_paused_or_unsubscribed_meanwhile_is_passed_by() -> None:
    hub = Weighed(slice_size=MIB)
    clients, ada = audience(hub, 30), hub.client(ADA)
    name = clients[29].subscribes("news")
    publishes(ada, LARGE)
    clients[27].leaves()
    clients[28].lags(1_001)
    clients[29].says("hub:unsubscribe", {"subscriptionId": name})
    hub.passes(100)
    assert [len(one.heard) for one in clients[26:]] == [1, 0, 1, 0]
    clients[28].hears("hub:pause")


def test_a_publication_to_more_than_a_slice_has_recipients_leaves_in_slices() -> None:
    hub = Transcript(slice_count=20, slice_pause_ms=4)
    clients, ada = audience(hub, 50), hub.client(ADA)
    publishes(ada, 1)
    counts = []
    for _ in range(4):
        counts.append(sum(len(one.heard) for one in clients))
        hub.passes(4)
    assert counts == [0, 20, 40, 50]


def test_what_has_expired_meanwhile_reaches_nobody() -> None:
    hub = Transcript(slice_count=20, slice_pause_ms=4)
    clients, ada = audience(hub, 50), hub.client(ADA)
    publishes(ada, 1, ttl=5)
    hub.passes(100)
    assert sum(len(one.heard) for one in clients) == 20
    assert hub.session.gauges()["pending"] == 0


def test_nobody_takes_all_places_for_messages_to_many() -> None:
    hub = Transcript(slice_count=2, max_broadcasts=8)
    audience(hub, 3)
    ada, bob = hub.client(ADA), hub.client("@(b)", peer="192.0.2.2:1")
    for number in range(2):
        publishes(ada, number)
        ada.hears("hub:published", payload__subscriberCount=3)
    asked = publishes(ada, 2)
    ada.hears("hub:error", correlationId=asked, payload__details__reason="queue_full")
    hub.concludes("rejected", "queue_full")
    publishes(bob, 3)
    bob.hears("hub:published", payload__subscriberCount=3)


def test_large_messages_to_many_are_bounded_by_their_bytes() -> None:
    hub = Transcript(slice_size=1_000, max_broadcasts_size=1_000_000)
    audience(hub, 3)
    ada, bob = hub.client(ADA), hub.client("@(b)", peer="192.0.2.2:1")
    publishes(ada, LARGE)
    ada.hears("hub:published")
    publishes(ada, LARGE)
    ada.hears("hub:error", payload__details__reason="queue_full")
    publishes(bob, 1)
    bob.hears("hub:published")


def test_queues_take_turns() -> None:
    hub = Weighed(slice_size=MIB)
    audience(hub, 30, "large")
    other = hub.client("@(o)")
    for number in range(30):
        hub.client(f"@(y/{number:02d})").subscribes("small")
    other.subscribes("small")
    ada = hub.client(ADA)
    for _ in range(5):
        publishes(ada, LARGE, "large")
    publishes(ada, "y" * 40_000, "small")
    hub.passes(12)
    assert len(other.heard) == 1


def test_a_stopping_hub_lets_out_some_slices_and_no_more() -> None:
    hub = Weighed(slice_size=200_000)
    clients, ada = audience(hub, 60), hub.client(ADA)
    publishes(ada, LARGE)
    hub.stops()
    assert 3_000_000 < hub.sent[hub.now_ms] < 3_500_000
    assert sum(len(one.heard) for one in clients) > 60


def test_a_mailbox_is_emptied_in_slices_and_in_order() -> None:
    hub = Weighed(slice_size=MIB)
    ada, bob = hub.client(ADA), hub.client("@(b)")
    bob.registers()
    bob.leaves()
    for number in range(30):
        ada.sends_to("@(b)", f"{number:02d}{LARGE}", ttl=60_000)
    bob = hub.client("@(b)")
    assert len(bob.heard) < 15
    ada.heard.clear()
    ada.sends_to("@(b)", "30")
    ada.hears("hub:delivery_ack", payload__status="queued")
    hub.passes(100)
    assert [heard[:2] for heard in payloads(bob)] == [f"{number:02d}" for number in range(31)]
    assert max(hub.sent.values()) <= MIB + 110_000
    ada.sends_to("@(b)", "31")
    ada.hears("hub:delivery_ack", payload__status="delivered")
    assert hub.session.gauges()["queued_bytes"] == 0
