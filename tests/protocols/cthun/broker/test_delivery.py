"""Messages that cannot be delivered at once: held, redelivered, expired."""

import pytest
from msgspec.structs import replace

from protocols.cthun.transcript import START_MS, TRUSTING, Client, Stage
from wireloom.protocols.cthun.broker.delivery import listed
from wireloom.protocols.cthun.codec import decode, encode
from wireloom.protocols.cthun.constants import (
    DONE_KIND,
    HELD_KIND,
    MAX_MESSAGE_SIZE,
    MessageType,
)
from wireloom.protocols.cthun.messages import (
    DestinationReport,
    InventoryRequest,
    TtlExpired,
)
from wireloom.protocols.cthun.times import text_of
from wireloom.wire.session import Congested, Forget, Send, Stopping, Store

BOB = "cth://bob.example.com/agent"
CAROL = "cth://carol.example.com/agent"
CERTIFIED = replace(TRUSTING, trust_sender=False)
LATE = ("accepted", "accept-to-queue", "redelivery", "deliver")
SECOND = 1_000


def stalled(stage: Stage, line: Client, *, size: int = TRUSTING.stalled_size) -> None:
    stage.happens(Congested(line.line, 1, size))


# Receivers that are away.


def test_a_message_for_a_client_that_is_away_waits_for_it() -> None:
    stage = Stage()
    alice = stage.join("alice")
    stage.join("bob").leaves()
    letter = stage.letter(alice, to=[BOB])
    alice.sends(letter)
    stage.concludes("queued", peer=alice)
    stage.passes(2 * SECOND)
    bob = stage.join("bob")
    raw = bob.gets_letter(letter, *LATE)
    times = [hop.time for hop in decode(raw).hops]
    assert times == [text_of(START_MS)] * 2 + [text_of(START_MS + 2 * SECOND)] * 2
    assert stage.stored == {}
    stage.passes(60 * SECOND)
    stage.is_quiet()


def test_messages_wait_for_clients_that_were_never_there() -> None:
    stage = Stage()
    alice = stage.join("alice")
    letters = [stage.letter(alice, to=[BOB]) for _ in range(3)]
    for letter in letters:
        alice.sends(letter)
    bob = stage.join("bob")
    for letter in letters:
        bob.gets_letter(letter, *LATE)


def test_a_message_is_stored_before_anything_is_said_of_it() -> None:
    stage = Stage()
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB], destination_report=True)
    alice.sends(letter).hears(DestinationReport(id=letter.envelope.id, targets=(BOB,)))
    assert isinstance(stage.commands[0], Store)
    assert list(stage.stored) == [(HELD_KIND, "0000000000000001")]


def test_what_leaves_late_says_so_and_is_forgotten_after_it_left() -> None:
    stage = Stage()
    alice = stage.join("alice")
    for _ in range(2):
        alice.sends(stage.letter(alice, to=[BOB]))
    stage.opens("bob").associates()
    kinds = [type(c) for c in stage.commands if isinstance(c, Send | Forget)]
    assert kinds == [Send, Send, Send, Forget, Forget]
    sent = [c for c in stage.commands if isinstance(c, Send)]
    assert [send.outcome for send in sent] == [None, "forwarded", "forwarded"]


def test_a_message_waits_for_each_of_its_targets() -> None:
    stage = Stage()
    alice, dave = stage.join("alice"), stage.join("dave")
    letter = stage.letter(alice, to=[BOB, CAROL, dave])
    alice.sends(letter)
    stage.concludes("queued")
    dave.gets_letter(letter, "accepted", "deliver")
    stage.join("bob").gets_letter(letter, *LATE)
    assert sorted(kind for kind, _ in stage.stored) == [DONE_KIND, HELD_KIND]
    stage.crashes()
    assert not stage.join("bob").inbox
    stage.join("carol").gets_letter(letter, *LATE)
    assert stage.stored == {}


def test_held_messages_survive_a_crash_in_their_order() -> None:
    stage = Stage()
    alice = stage.join("alice")
    letters = [stage.letter(alice, to=[BOB], ttl_ms=60_000 - n) for n in range(20)]
    for letter in letters:
        alice.sends(letter)
    stage.crashes()
    stage.passes(SECOND)
    stage.crashes()
    alice = stage.join("alice")
    last = stage.letter(alice, to=[BOB])
    alice.sends(last)
    bob = stage.join("bob")
    for letter in [*letters, last]:
        bob.gets_letter(letter, *LATE)
    assert stage.stored == {}


def test_a_held_message_that_comes_again_after_a_crash_is_a_duplicate() -> None:
    stage = Stage()
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB])
    alice.sends(letter)
    stage.concludes("queued")
    stage.crashes()
    stage.join("alice").sends(letter)
    stage.concludes("duplicate")
    stage.join("bob").gets_letter(letter, *LATE)
    stage.is_quiet()


def test_held_messages_survive_a_stop() -> None:
    stage = Stage()
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB])
    alice.sends(letter)
    stage.happens(Stopping())
    stage.crashes()
    stage.join("bob").gets_letter(letter, *LATE)


def test_many_held_messages_are_delivered_in_several_turns_and_in_order() -> None:
    stage = Stage(replace(TRUSTING, burst_count=3))
    alice = stage.join("alice")
    letters = [stage.letter(alice, to=[BOB]) for _ in range(8)]
    for letter in letters:
        alice.sends(letter)
    bob = stage.join("bob")
    assert len(bob.inbox) == 3
    letters.append(stage.letter(alice, to=[BOB]))
    stage.conclusions.clear()
    alice.sends(letters[-1])
    stage.concludes("queued")
    stage.passes(0)
    assert len(bob.inbox) == 3
    stage.passes(2)
    for letter in letters:
        bob.gets_letter(letter, *LATE)
    direct = stage.letter(alice, to=[BOB])
    alice.sends(direct)
    bob.gets_letter(direct, "accepted", "deliver")


# Attempts.


@pytest.mark.parametrize(
    ("ttl_ms", "waits"),
    [(1_500, [1_000]), (5_000, [2_500, 3_750, 4_750]), (100_000, [15_000, 30_000, 45_000])],
)
def test_attempts_come_after_half_of_the_time_that_is_left(ttl_ms: int, waits: list[int]) -> None:
    stage = Stage()
    alice = stage.join("alice")
    alice.sends(stage.letter(alice, to=[BOB], ttl_ms=ttl_ms))
    for wait in waits:
        assert stage.timers["redelivery", BOB] == START_MS + wait
        stage.passes(START_MS + wait - stage.now_ms)


def test_attempts_end_with_what_was_waited_for() -> None:
    stage = Stage()
    alice = stage.join("alice")
    alice.sends(stage.letter(alice, to=[BOB]))
    stage.passes(60 * SECOND)
    assert ("redelivery", BOB) not in stage.timers
    alice.sends(stage.letter(alice, to=[BOB]))
    assert ("redelivery", BOB) in stage.timers
    stage.join("bob")
    assert ("redelivery", BOB) not in stage.timers


def test_attempts_go_on_after_a_crash() -> None:
    stage = Stage()
    alice = stage.join("alice")
    alice.sends(stage.letter(alice, to=[BOB]))
    stage.passes(SECOND)
    stage.crashes()
    assert stage.timers == {
        ("redelivery", BOB): START_MS + 3_000,
        "expiry": START_MS + 5_000,
    }


# Expiry.


def test_a_message_that_nobody_came_for_is_reported_when_it_expires() -> None:
    stage = Stage()
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB, CAROL])
    alice.sends(letter)
    stage.passes(5 * SECOND - 1)
    assert not alice.inbox
    stage.passes(1)
    answer = alice.hears_of_expiry(letter)
    assert answer.envelope.expires == text_of(START_MS + 8 * SECOND)
    assert stage.stored == {}
    stage.passes(60 * SECOND)
    assert not stage.join("bob").inbox
    stage.concludes("queued")
    stage.is_quiet()


def test_messages_expire_in_the_order_of_their_times() -> None:
    stage = Stage()
    alice = stage.join("alice")
    later, sooner = (stage.letter(alice, to=[BOB], ttl_ms=ttl) for ttl in (9_000, 4_000))
    alice.sends(later).sends(sooner)
    stage.passes(4_000)
    alice.hears_of_expiry(sooner)
    stage.passes(4_999)
    assert not alice.inbox
    stage.passes(1)
    alice.hears_of_expiry(later)


def test_a_message_that_expired_before_it_came_is_reported() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    for ttl_ms in (0, -60_000):
        letter = stage.letter(alice, to=[bob], ttl_ms=ttl_ms)
        alice.sends(letter).hears_of_expiry(letter)
        assert stage.concludes("expired", peer=alice).type is None
    letter = stage.letter(alice, to=[bob], ttl_ms=1)
    alice.sends(letter)
    bob.gets_letter(letter, "accepted", "deliver")


def test_many_expiries_are_reported_in_several_turns() -> None:
    stage = Stage(replace(TRUSTING, burst_count=2))
    alice = stage.join("alice")
    letters = [stage.letter(alice, to=[BOB]) for _ in range(5)]
    for letter in letters:
        alice.sends(letter)
    stage.passes(5 * SECOND)
    assert len(alice.inbox) == 2
    stage.passes(2)
    assert [packet.data for packet, _ in alice.inbox] == [
        TtlExpired(id=letter.envelope.id) for letter in letters
    ]


def test_a_sender_that_is_away_hears_of_the_expiry_when_it_is_back() -> None:
    stage = Stage()
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB])
    alice.sends(letter)
    alice.leaves()
    stage.passes(65 * SECOND)
    stage.crashes()
    stage.passes(SECOND)
    again = stage.join("alice")
    again.hears_of_expiry(letter)
    assert stage.stored == {}
    again.leaves()
    assert not stage.join("alice").inbox


def test_what_expired_while_the_broker_was_down_is_reported() -> None:
    stage = Stage()
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB])
    alice.sends(letter)
    stage.now_ms += 60 * SECOND
    stage.crashes()
    bob, again = stage.join("bob"), stage.join("alice")
    stage.passes(0)
    again.hears_of_expiry(letter)
    assert not bob.inbox
    assert stage.stored == {}


def test_news_of_an_expiry_does_not_wait_for_ever() -> None:
    stage = Stage(replace(TRUSTING, report_wait_ms=10 * SECOND))
    alice = stage.join("alice")
    alice.sends(stage.letter(alice, to=[BOB]))
    alice.leaves()
    stage.passes(15 * SECOND - 1)
    assert len(stage.stored) == 1
    stage.passes(1)
    assert stage.stored == {}
    assert not stage.join("alice").inbox


def test_the_brokers_own_messages_are_neither_held_nor_reported() -> None:
    stage = Stage()
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB])
    alice.sends(letter)
    stage.passes(5 * SECOND)
    alice.hears_of_expiry(letter)
    alice.leaves()
    stage.passes(60 * SECOND)
    assert stage.stored == {}
    assert set(stage.timers) == set()


# Bounds.


@pytest.mark.parametrize("limit", [{"held_count": 3}, {"held_size": 7_000}])
def test_more_than_may_be_held_is_refused(limit: dict[str, int]) -> None:
    stage = Stage(replace(TRUSTING, **limit))
    alice = stage.join("alice")
    for _ in range(2):
        alice.sends(stage.letter(alice, to=[BOB], data=b""))
        stage.concludes("queued")
    letter = stage.letter(alice, to=[BOB], data=b"")
    alice.sends(letter).hears_error("Message queue is full", about=letter)
    stage.concludes("rejected", "queue_full", peer=alice)
    assert len(stage.stored) == 2
    stage.join("bob")
    alice.sends(stage.letter(alice, to=[CAROL], data=b""))
    stage.concludes("queued")


def test_a_message_that_cannot_be_held_for_all_reaches_nobody() -> None:
    stage = Stage(replace(TRUSTING, held_count=1))
    alice, dave = stage.join("alice"), stage.join("dave")
    letter = stage.letter(alice, to=[dave, BOB, CAROL], destination_report=True)
    alice.sends(letter).hears_error("Message queue is full", about=letter)
    stage.concludes("rejected", "queue_full")
    stage.is_quiet()
    assert stage.stored == {}


def test_one_name_leaves_room_for_others_whatever_its_uris() -> None:
    stage = Stage(replace(CERTIFIED, held_count=10))
    for type_ in ("agent", "controller", "other"):
        alice = stage.join(f"cth://alice/{type_}", identity="alice")
        for _ in range(5):
            alice.sends(stage.letter(alice, to=[BOB]))
    assert len(stage.stored) == 5
    dave = stage.join("cth://dave/agent", identity="dave")
    stage.conclusions.clear()
    dave.sends(stage.letter(dave, to=[BOB]))
    stage.concludes("queued")


def test_without_certificates_one_address_leaves_room_for_others() -> None:
    stage = Stage(replace(TRUSTING, held_count=10))
    for number in range(3):
        alice = stage.join(f"alice{number}")
        for _ in range(5):
            alice.sends(stage.letter(alice, to=[BOB]))
    assert len(stage.stored) == 5
    dave = stage.join("dave", peer="192.0.2.7:4711")
    stage.conclusions.clear()
    dave.sends(stage.letter(dave, to=[BOB]))
    stage.concludes("queued")


def test_shares_are_as_before_after_a_crash() -> None:
    stage = Stage(replace(CERTIFIED, held_count=10))
    alice = stage.join("cth://alice/agent", identity="alice")
    for _ in range(5):
        alice.sends(stage.letter(alice, to=[BOB]))
    stage.crashes()
    stage.conclusions.clear()
    alice = stage.join("cth://alice/other", identity="alice")
    letter = stage.letter(alice, to=[BOB])
    alice.sends(letter).hears_error("Message queue is full", about=letter)


def test_whole_records_are_weighed() -> None:
    stage = Stage(replace(TRUSTING, held_size=200_000))
    alice = stage.join("alice")
    targets = [f"cth://{'n' * 900}{number}/agent" for number in range(30)]
    for _ in range(10):
        alice.sends(stage.letter(alice, to=targets, data=b""))
    assert len(stage.stored) == 1
    assert 70_000 < stage.session.gauges()["queued_bytes"] <= 100_000


def test_a_lifetime_has_a_maximum() -> None:
    stage = Stage(replace(TRUSTING, max_lifetime_ms=10 * SECOND))
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB], ttl_ms=10**12)
    alice.sends(letter)
    stage.passes(10 * SECOND - 1)
    assert not alice.inbox
    stage.passes(1)
    alice.hears_of_expiry(letter)
    direct = stage.letter(alice, to=[alice], ttl_ms=10**12)
    alice.sends(direct).gets_letter(direct, "accepted", "deliver")


@pytest.mark.parametrize("end", ["delivered", "expired", "told"])
def test_room_is_given_back(end: str) -> None:
    stage = Stage(replace(TRUSTING, held_count=4, held_size=10_000))
    for _ in range(4):
        alice = stage.join("alice")
        stage.conclusions.clear()
        alice.sends(stage.letter(alice, to=[BOB, CAROL]))
        stage.concludes("queued")
        if end == "delivered":
            stage.opens("bob").associates()
            stage.opens("carol").associates()
        if end == "told":
            alice.leaves()
        stage.passes(5 * SECOND)
        if end == "told":
            stage.opens("alice").associates()
        for line in list(stage.clients.values()):
            line.leaves()


def test_a_message_without_room_for_notes_is_carried_without() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    full = stage.letter(alice, to=[bob, CAROL])
    fill = MAX_MESSAGE_SIZE - len(encode(full)) + 5
    letter = replace(full, data=b"x" * fill)
    alice.sends(letter)
    bob.gets_letter(letter)
    stage.passes(SECOND)
    stage.join("carol").gets_letter(letter)
    direct = stage.letter(alice, to=[bob])
    direct = replace(direct, data=b"x" * (MAX_MESSAGE_SIZE - len(encode(direct)) + 5))
    alice.sends(direct)
    bob.gets_letter(direct)


# Receivers that do not read.


@pytest.mark.parametrize("full", [(TRUSTING.stalled_count, 0), (0, TRUSTING.stalled_size)])
def test_messages_for_a_client_that_does_not_read_wait_until_it_does(full: tuple[int, int]) -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    stage.happens(Congested(bob.line, *full))
    letters = [stage.letter(alice, to=[to]) for to in (bob, "cth://bob.example.com/*")]
    for letter in letters:
        alice.sends(letter)
        stage.concludes("queued")
    stage.happens(Congested(bob.line, full[0], full[1]))
    stage.passes(3 * SECOND)
    stage.is_quiet()
    stage.happens(Congested(bob.line, max(0, full[0] - 1), max(0, full[1] - 1)))
    for letter in letters:
        bob.gets_letter(letter, *LATE)
    letter = stage.letter(alice, to=[bob])
    alice.sends(letter)
    bob.gets_letter(letter, "accepted", "deliver")


def test_a_message_for_a_client_that_never_reads_expires() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    stalled(stage, bob)
    letter = stage.letter(alice, to=[bob])
    alice.sends(letter)
    stage.passes(5 * SECOND)
    alice.hears_of_expiry(letter)
    stalled(stage, bob, size=0)
    assert not bob.inbox
    letter = stage.letter(alice, to=[bob])
    alice.sends(letter)
    bob.gets_letter(letter, "accepted", "deliver")


def test_a_client_goes_on_when_all_that_waited_for_it_has_expired() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    stalled(stage, bob)
    alice.sends(stage.letter(alice, to=[bob]))
    stage.now_ms += 5 * SECOND
    stalled(stage, bob, size=0)
    assert not bob.inbox
    stage.passes(0)
    letter = stage.letter(alice, to=[bob])
    alice.sends(letter)
    bob.gets_letter(letter, "accepted", "deliver")


def test_a_slow_client_delays_nobody_else() -> None:
    stage = Stage()
    alice, bob, carol = (stage.join(name) for name in ("alice", "bob", "carol"))
    stalled(stage, bob)
    letter = stage.letter(alice, to=["cth://*/agent"])
    alice.sends(letter).gets_letter(letter, "accepted", "deliver")
    carol.gets_letter(letter, "accepted", "deliver")
    assert not bob.inbox
    stage.concludes("queued")


def test_a_client_that_asks_and_never_reads_is_cut() -> None:
    stage = Stage(replace(TRUSTING, unread_size=1_000))
    alice = stage.join("alice")
    stalled(stage, alice)
    for _ in range(3):
        assert alice.is_open
        alice.sends(b"garbage")
    for _ in range(3):
        alice.sends(b"garbage")
    alice.is_cut(1011, "the client does not read")
    assert len(alice.inbox) == 3


def test_what_was_said_while_a_client_did_not_read_is_forgotten_when_it_does() -> None:
    stage = Stage(replace(TRUSTING, unread_size=1_000))
    alice = stage.join("alice")
    for _ in range(10):
        stalled(stage, alice)
        alice.sends(b"garbage").sends(b"garbage")
        stalled(stage, alice, size=0)
    assert alice.is_open


def test_a_sender_cut_by_its_own_report_gets_no_message() -> None:
    stage = Stage(replace(TRUSTING, unread_size=100))
    alice, bob = stage.join("alice"), stage.join("bob")
    stalled(stage, alice)
    stage.passes(1)
    letter = stage.letter(alice, to=["cth://*/agent"], destination_report=True)
    alice.sends(letter)
    alice.is_cut(1011, "the client does not read")
    bob.gets_letter(letter, "accepted", "deliver")
    stage.concludes("queued")
    stage.is_quiet()


def test_a_connection_that_stalls_before_it_associates_gets_its_messages_later() -> None:
    stage = Stage()
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB])
    alice.sends(letter)
    bob = stage.opens("bob")
    stalled(stage, bob)
    bob.associates()
    assert len(bob.inbox) == 1
    bob.inbox.clear()
    stalled(stage, bob, size=0)
    bob.gets_letter(letter, *LATE)


def test_a_refused_association_of_a_client_that_does_not_read_closes_it_once() -> None:
    stage = Stage(replace(TRUSTING, unread_size=10))
    bob = stage.opens("bob")
    stalled(stage, bob)
    bob.associates(targets=(BOB,))
    bob.is_cut(1011, "the client does not read")


def test_only_the_brokers_types_are_counted_by_name() -> None:
    stage = Stage()
    assert listed(stage.letter(BOB, to=[]).envelope) is None
    type_ = MessageType.INVENTORY_REQUEST.value
    assert listed(stage.request(BOB, type_, InventoryRequest(query=())).envelope) == type_
