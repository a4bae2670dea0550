"""What goes late: in slices, in order, to those who read."""

import pytest
from msgspec.structs import replace

from protocols.cthun.transcript import START_MS, TRUSTING, Client, Stage
from wireloom.protocols.cthun.constants import BROKER_URI, DONE_KIND, HELD_KIND, MessageType
from wireloom.protocols.cthun.messages import DestinationReport, TtlExpired
from wireloom.protocols.cthun.times import text_of
from wireloom.wire.session import Congested, Store

BOB = "cth://bob.example.com/agent"
LATE = ("accepted", "accept-to-queue", "redelivery", "deliver")
AT_ONCE = ("accepted", "deliver")
MIB = 1024 * 1024
SECOND = 1_000


def agents(stage: Stage, count: int) -> list[Client]:
    return [stage.join(f"n{number:02}") for number in range(count)]


# The frame is stored once.


def test_a_held_message_is_written_once_for_all_its_receivers() -> None:
    stage = Stage()
    alice = stage.join("alice")
    uris = [f"cth://n{number:02}.example.com/agent" for number in range(30)]
    letters = [stage.letter(alice, to=uris, data=bytes(100_000)) for _ in range(3)]
    written = 0
    for letter in letters:
        alice.sends(letter)
        written += sum(len(c.value) for c in stage.commands if isinstance(c, Store))
    for uri in uris:
        stage.passes(1)
        agent = stage.opens(uri).associates()
        written += sum(len(c.value) for c in stage.commands if isinstance(c, Store))
        agent.inbox.popleft()
        for letter in letters:
            agent.gets_letter(letter, *LATE)
    assert stage.stored == {}
    assert written < 3 * 110_000


def test_after_a_crash_those_who_had_a_message_do_not_get_it_again() -> None:
    stage = Stage()
    alice = stage.join("alice")
    uris = [f"cth://n{number:03}.example.com/agent" for number in range(600)]
    letter = stage.letter(alice, to=uris)
    alice.sends(letter)
    early = (0, 1, 7, 8, 511, 512, 599)
    for number in early:
        stage.join(f"n{number:03}").gets_letter(letter, *LATE)
        stage.crashes()
    for number, uri in enumerate(uris):
        stage.passes(1)
        agent = stage.join(uri)
        if number not in early:
            agent.gets_letter(letter, *LATE)
        assert not agent.inbox
    assert stage.stored == {}


def test_a_message_that_expired_with_some_receivers_left_leaves_no_record() -> None:
    stage = Stage()
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB, "cth://carol.example.com/agent"])
    alice.sends(letter)
    stage.join("bob").gets_letter(letter, *LATE)
    assert {kind for kind, _ in stage.stored} == {HELD_KIND, DONE_KIND}
    stage.passes(5 * SECOND)
    alice.hears_of_expiry(letter)
    assert stage.stored == {}


# Expiries are recorded.


@pytest.mark.parametrize("is_down", [False, True])
def test_an_expiry_is_captured_also_when_the_sender_has_gone(is_down: bool) -> None:
    stage = Stage()
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB])
    alice.sends(letter)
    alice.leaves()
    if is_down:
        stage.now_ms += 5 * SECOND
        stage.crashes()
        stage.passes(0)
    else:
        stage.passes(5 * SECOND)
    ((peer, packet),) = stage.recorded
    assert peer == alice.uri
    assert packet.data == TtlExpired(id=letter.envelope.id)
    assert packet.envelope.message_type == MessageType.TTL_EXPIRED
    assert packet.envelope.sender == BROKER_URI
    assert packet.envelope.targets == (alice.uri,)
    assert packet.envelope.expires == text_of(START_MS + 8 * SECOND)
    stage.join("alice").hears_of_expiry(letter)
    assert len(stage.recorded) == 1


def test_an_expiry_that_its_sender_hears_of_is_not_recorded() -> None:
    stage = Stage()
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB])
    alice.sends(letter)
    stage.passes(5 * SECOND)
    alice.hears_of_expiry(letter)
    assert not stage.recorded


def test_an_expiry_whose_sender_is_cut_instead_is_recorded_and_told_later() -> None:
    stage = Stage(replace(TRUSTING, unread_size=100))
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[BOB])
    alice.sends(letter)
    stage.happens(Congested(alice.line, 0, TRUSTING.stalled_size))
    stage.passes(5 * SECOND)
    alice.is_cut(1011, "the client does not read")
    assert [packet.data for _, packet in stage.recorded] == [TtlExpired(id=letter.envelope.id)]
    alice.leaves()
    stage.join("alice").hears_of_expiry(letter)


# Slices.


def test_a_large_message_to_many_leaves_in_slices_and_in_order() -> None:
    stage = Stage()
    alice = stage.join("cth://alice.example.com/controller")
    bobs = agents(stage, 10)
    letters = [stage.letter(alice, to=["cth://*/agent"], data=bytes(MIB)) for _ in range(2)]
    alice.sends(letters[0]).sends(letters[1])
    small = stage.letter(alice, to=["cth://*/agent"])
    alice.sends(small)
    assert [len(bob.inbox) for bob in bobs] == [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    for _ in range(100):
        before = sum(len(bob.inbox) for bob in bobs)
        stage.passes(1)
        assert sum(len(bob.inbox) for bob in bobs) - before <= 10
    for number, bob in enumerate(bobs):
        bob.gets_letter(letters[0], *(AT_ONCE if number < 4 else LATE))
        bob.gets_letter(letters[1], *LATE)
        bob.gets_letter(small, *LATE)
    assert stage.stored == {}
    later = stage.letter(alice, to=["cth://*/agent"])
    alice.sends(later)
    for bob in bobs:
        bob.gets_letter(later, *AT_ONCE)


def test_a_message_to_one_is_not_cut_in_slices() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    for report in (True, False):
        letters = [
            stage.letter(alice, to=[bob], data=bytes(3 * MIB), destination_report=report)
            for _ in range(3)
        ]
        for letter in letters:
            alice.sends(letter)
            bob.gets_letter(letter, *AT_ONCE)


def test_who_goes_before_its_slice_gets_it_when_it_is_back() -> None:
    stage = Stage()
    alice = stage.join("cth://alice.example.com/controller")
    bobs = agents(stage, 3)
    letter = stage.letter(alice, to=["cth://*/agent"], data=bytes(5 * MIB), destination_report=True)
    alice.sends(letter)
    report = DestinationReport(id=letter.envelope.id, targets=tuple(bob.uri for bob in bobs))
    alice.hears(report)
    bobs[1].leaves()
    stage.passes(100)
    for bob, way in ((bobs[0], AT_ONCE), (bobs[2], LATE)):
        bob.gets_letter(letter, *way)
    stage.join("n01").gets_letter(letter, *LATE)


def test_slices_go_on_after_a_crash() -> None:
    stage = Stage()
    alice = stage.join("cth://alice.example.com/controller")
    agents(stage, 3)
    letter = stage.letter(alice, to=["cth://*/agent"], data=bytes(5 * MIB))
    alice.sends(letter)
    stage.crashes()
    bobs = agents(stage, 3)
    stage.passes(100)
    assert [len(bob.inbox) for bob in bobs] == [0, 1, 1]


def test_what_waits_to_leave_for_all_has_a_bound() -> None:
    stage = Stage(replace(TRUSTING, crowded_size=10 * MIB))
    alice = stage.join("cth://alice.example.com/controller")
    deaf = agents(stage, 10)
    letter = stage.letter(alice, to=["cth://*/agent"], data=bytes(3 * MIB), ttl_ms=60 * SECOND)
    alice.sends(letter)
    unread: set[int] = set()
    for _ in range(20):
        for one in deaf:
            if one.inbox and one.line not in unread:
                unread.add(one.line)
                stage.happens(Congested(one.line, 1, 3 * MIB))
        stage.passes(20)
    assert len(unread) in (4, 5)  # the last may leave before it is known that nobody reads
    carol = stage.join("carol")
    small = stage.letter(alice, to=["cth://*/agent"])
    alice.sends(small)
    carol.gets_letter(small, *AT_ONCE)
    for one in deaf[:3]:
        one.leaves()
    stage.passes(20)
    assert sum(len(one.inbox) for one in deaf[4:]) > 0


def test_when_there_is_room_again_all_get_what_is_theirs() -> None:
    stage = Stage(replace(TRUSTING, crowded_size=MIB))
    alice = stage.join("cth://alice.example.com/controller")
    slow, bob = agents(stage, 2)
    stage.happens(Congested(slow.line, 1, MIB))
    letter = stage.letter(alice, to=["cth://*/agent"], data=bytes(MIB))
    alice.sends(letter)
    stage.concludes("queued")
    stage.passes(10)
    stage.is_quiet()
    stage.happens(Congested(slow.line, 0, 0))
    stage.passes(20)
    for one in (slow, bob):
        one.gets_letter(letter, *LATE)


def test_what_must_wait_for_others_is_overtaken_but_not_by_its_own_sender() -> None:
    stage = Stage(replace(TRUSTING, crowded_size=MIB))
    mallory, alice = (stage.join(f"cth://{name}/controller") for name in ("mallory", "alice"))
    deaf, bob = agents(stage, 2)
    stage.happens(Congested(deaf.line, 1, MIB))
    large = stage.letter(mallory, to=["cth://*/agent"], data=bytes(MIB))
    mallory.sends(large)
    follows = stage.letter(mallory, to=[bob])
    mallory.sends(follows)
    for _ in range(3):
        letter = stage.letter(alice, to=[bob])
        alice.sends(letter)
        stage.passes(1)
        bob.gets_letter(letter, *LATE)
    assert not bob.inbox
    deaf.leaves()
    stage.passes(20)
    bob.gets_letter(large, *LATE)
    bob.gets_letter(follows, *LATE)


def test_many_news_are_told_in_several_turns() -> None:
    stage = Stage(replace(TRUSTING, burst_count=2))
    alice = stage.join("alice")
    letters = [stage.letter(alice, to=[BOB]) for _ in range(5)]
    for letter in letters:
        alice.sends(letter)
    alice.leaves()
    stage.passes(10 * SECOND)
    again = stage.join("alice")
    assert len(again.inbox) == 2
    stage.passes(2)
    assert [packet.data for packet, _ in again.inbox] == [
        TtlExpired(id=letter.envelope.id) for letter in letters
    ]
    assert stage.stored == {}


def test_what_is_held_for_many_expires_in_several_turns() -> None:
    stage = Stage(replace(TRUSTING, burst_count=10))
    alice = stage.join("alice")
    uris = [f"cth://n{number}.example.com/agent" for number in range(10)]
    letters = [stage.letter(alice, to=uris) for _ in range(3)]
    for letter in letters:
        alice.sends(letter)
    stage.passes(5 * SECOND)
    assert len(alice.inbox) == 1
    stage.passes(2)
    assert len(alice.inbox) == 3
