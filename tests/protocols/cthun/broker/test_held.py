"""What waits, in memory and on disk."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from wireloom.protocols.cthun.broker.held import Holding
from wireloom.protocols.cthun.broker.kept import Held, Notice
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.constants import DONE_KIND, HELD_KIND, NOTICE_KIND
from wireloom.wire.session import Command, Forget, Store

A, B, SENDER = "cth://a/agent", "cth://b/agent", "cth://s/controller"
OWNER, OTHER = "name s", "name t"


def held(*owed: str, expires_ms: int = 1_000, raw: bytes = b"raw", owner: str = OWNER) -> Held:
    return Held(
        id="id",
        sender=SENDER,
        expires_ms=expires_ms,
        owed=list(owed),
        noted=True,
        raw=raw,
        owner=owner,
    )


def holding(**limits: int) -> Holding:
    return Holding(replace(BrokerSettings(), **limits))


def got(waiting: Holding, number: int, uri: str) -> list[Command]:
    waiting.delivered(number, uri)
    return commands_of(lambda out: waiting.settle([number], out))


def commands_of(call: Callable[[list[Command]], None]) -> list[Command]:
    commands: list[Command] = []
    call(commands)
    return commands


def test_each_record_has_its_own_key_and_keys_sort_by_age() -> None:
    waiting = holding()
    keys = [waiting.hold(held(A)).key for _ in range(300)]
    assert keys == sorted(set(keys))


def test_a_message_is_stored_once_however_many_get_it() -> None:
    waiting = holding()
    uris = [f"cth://n{number}/agent" for number in range(2_000)]
    written = len(waiting.hold(held(*uris, raw=bytes(1_000_000))).value)
    for uri in uris[:-1]:
        for command in got(waiting, 1, uri):
            assert isinstance(command, Store)
            assert command.kind == DONE_KIND
            written += len(command.value)
    assert written < 1_300_000
    ended = got(waiting, 1, uris[-1])
    assert ended[0] == Forget(HELD_KIND, "0000000000000001")
    assert [type(command) for command in ended[1:]] == [Forget] * 4
    assert (len(waiting), waiting.count, waiting.size) == (0, 0, 0)
    assert waiting.targets() == []


def test_many_who_get_a_message_at_once_are_one_mark() -> None:
    waiting = holding()
    uris = [f"cth://n{number}/agent" for number in range(500)]
    waiting.hold(held(*uris))
    for uri in uris[:400]:
        waiting.delivered(1, uri)
    (mark,) = commands_of(lambda out: waiting.settle([1], out))
    assert isinstance(mark, Store)
    assert commands_of(lambda out: waiting.settle([1], out)) == []
    assert waiting.waiting_for(1) == uris[400:]


def test_what_was_stored_is_taken_up_as_it_was() -> None:
    waiting = holding()
    records = [waiting.hold(held(A, B, raw=bytes(range(256)))), waiting.note(held(A), 5)]
    again = holding()
    assert commands_of(lambda out: again.restore(reversed(records), out)) == []
    assert [message.raw for message in again.messages()] == [bytes(range(256))]
    assert sorted(again.targets()) == [A, B]
    assert [notice.id for _, notice in again.notices_for(SENDER)] == ["id"]
    assert (again.count, again.size) == (waiting.count, waiting.size)
    assert again.hold(held(A)).key > records[1].key


def test_who_has_got_a_message_is_known_after_a_crash() -> None:
    waiting = holding()
    record = waiting.hold(held(A, B))
    (mark,) = got(waiting, 1, B)
    assert isinstance(mark, Store)
    again = holding()
    assert commands_of(lambda out: again.restore([mark, record], out)) == []
    assert again.targets() == [A]
    assert (again.count, again.size) == (waiting.count, waiting.size)
    assert got(again, 1, A) == [Forget(HELD_KIND, record.key), Forget(DONE_KIND, mark.key)]


def test_a_message_that_everybody_has_is_forgotten_at_the_next_start() -> None:
    waiting = holding()
    record = waiting.hold(held(A))
    again = holding()
    mark = Store(DONE_KIND, f"{record.key}-000", b"\1")
    assert commands_of(lambda out: again.restore([record, mark], out)) == [
        Forget(HELD_KIND, record.key),
        Forget(DONE_KIND, mark.key),
    ]
    assert (len(again), again.count, again.size) == (0, 0, 0)


def test_a_record_that_cannot_be_read_is_set_aside_and_counted() -> None:
    good = holding().hold(held(A))
    broken = [
        Store(HELD_KIND, "0000000000000002", b"\xc1"),
        Store(NOTICE_KIND, "not a number", good.value),
    ]
    waiting = holding()
    aside = commands_of(
        lambda out: waiting.restore([*broken, Store("another", "1", b""), good], out)
    )
    assert [command for command in aside if isinstance(command, Forget)] == [
        Forget(record.kind, record.key) for record in broken
    ]
    kept = [command for command in aside if isinstance(command, Store)]
    assert [record.value for record in kept] == [record.value for record in broken]
    assert waiting.unreadable_count == 2
    assert len(waiting) == 1
    again = holding()
    assert commands_of(lambda out: again.restore([good, *kept], out)) == []
    assert again.unreadable_count == 2


def test_only_what_has_not_expired_is_next() -> None:
    waiting = holding()
    for expires_ms in (10, 30, 20):
        waiting.hold(held(A, expires_ms=expires_ms))
    assert [number for number, _ in waiting.next_for(A, 10)] == [2, 3]
    assert waiting.next_for(B, 0) == []


def test_no_more_is_next_than_may_leave_in_one_turn() -> None:
    waiting = holding(burst_count=2)
    for _ in range(5):
        waiting.hold(held(A))
        waiting.note(held(A), 0)
    assert len(waiting.next_for(A, 0)) == 2
    assert len(waiting.notices_for(SENDER)) == 2


def test_things_expire_in_order_and_no_more_than_asked_for() -> None:
    waiting = holding(report_wait_ms=5)
    for expires_ms in (30, 10, 20):
        waiting.hold(held(A, expires_ms=expires_ms))
    waiting.note(held(A), 10)
    assert waiting.next_expiry_ms == 10
    found = []
    for number, _ in waiting.expired(3, 25):
        found.append(number)
        waiting.drop(number, [])
    assert found == [2, 4, 3]
    assert list(waiting.expired(3, 25)) == []
    assert waiting.next_expiry_ms == 30


def test_what_expires_counts_for_every_client_it_waits_for() -> None:
    waiting = holding()
    for _ in range(5):
        waiting.hold(held(A, B))
    assert [number for number, _ in waiting.expired(3, 1_000)] == [1, 2]


def test_a_message_that_expires_is_dropped_with_its_marks() -> None:
    waiting = holding()
    waiting.hold(held(A, B))
    got(waiting, 1, A)
    assert waiting.waiting_for(1) == [B]
    key = "0000000000000001"
    assert commands_of(lambda out: waiting.drop(1, out)) == [
        Forget(HELD_KIND, key),
        Forget(DONE_KIND, f"{key}-000"),
    ]
    assert (len(waiting), waiting.count, waiting.size) == (0, 0, 0)


def test_a_notice_is_dropped_with_its_record() -> None:
    waiting = holding()
    stored = waiting.note(held(A), 0)
    waiting.note(held(A), 0)
    assert commands_of(lambda out: waiting.drop(1, out)) == [Forget(NOTICE_KIND, stored.key)]
    assert [number for number, _ in waiting.notices_for(SENDER)] == [2]
    waiting.drop(2, [])
    assert waiting.notices_for(SENDER) == []


def test_every_receiver_and_every_notice_counts() -> None:
    waiting = holding(held_count=7)
    waiting.hold(held(A, B))
    waiting.note(held(A), 0)
    assert waiting.count == 3
    assert waiting.covers(held(A))
    assert not waiting.covers(held(A, B))
    assert waiting.covers(held(A, B, owner=OTHER))


def test_bytes_of_a_message_count_once_however_many_receive_it() -> None:
    one, two = held(A, raw=bytes(10**6)), held(A, B, raw=bytes(10**6))
    assert two.weight - one.weight < 1_000
    waiting = holding(held_size=2 * two.weight)
    waiting.hold(two)
    assert not waiting.covers(held(A, raw=b""))
    got(waiting, 1, A)
    assert not waiting.covers(held(A, raw=b""))
    got(waiting, 1, B)
    assert waiting.covers(two)
    assert waiting.size == 0


@pytest.mark.parametrize("owner", [OWNER, OTHER])
def test_an_owner_may_hold_as_much_as_stays_free(owner: str) -> None:
    waiting = holding(held_count=10)
    for _ in range(5):
        waiting.hold(held(A))
    assert waiting.covers(held(A, owner=owner)) == (owner == OTHER)


def test_what_was_delivered_does_not_fill_the_order_of_expiry() -> None:
    waiting = holding()
    for number in range(1, 10_001):
        waiting.hold(held(A, expires_ms=10**12))
        got(waiting, number, A)
    assert len(waiting._expiries) < 2_000
    assert waiting.next_expiry_ms is None
    assert waiting._marks == {}


def test_a_notice_keeps_what_the_sender_is_told() -> None:
    waiting = holding(report_wait_ms=7)
    waiting.note(held(A), 100)
    notice = Notice(id="id", sender=SENDER, expires_ms=107, owner=OWNER)
    assert waiting.notices_for(SENDER) == [(1, notice)]
