"""The records of what waits, and those of an earlier version."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.protocols.cthun.broker.kept import Held, Marks, Notice, forgotten, found, stored
from wireloom.protocols.cthun.constants import DONE_KIND, HELD_KIND, NOTICE_KIND, UNREADABLE_KIND
from wireloom.wire.session import Command, Forget, Store

A, B, SENDER = "cth://a/agent", "cth://b/agent", "cth://s/controller"
HELD = Held(
    id="id", sender=SENDER, expires_ms=9, owed=[A, B], noted=True, raw=b"raw", owner="network ::1"
)
NOTICE = Notice(id="id", sender=SENDER, expires_ms=9, owner="name s")


@pytest.mark.parametrize(("waiting", "kind"), [(HELD, HELD_KIND), (NOTICE, NOTICE_KIND)])
def test_what_is_stored_is_found(waiting: Held | Notice, kind: str) -> None:
    record = stored(26, waiting)
    assert (record.kind, record.key) == (kind, "000000000000001a")
    assert forgotten(26, waiting) == Forget(kind, record.key)
    ((number, one, _),) = found([record]).waiting
    assert (number, one) == (26, waiting)


def test_records_of_the_first_version_are_read() -> None:
    """They name those left, are written anew for each, and have no owner."""
    old = [
        Store(
            HELD_KIND,
            "0000000000000007",
            msgspec.msgpack.encode(["id", SENDER, 9, [B], True, b"raw"]),
        ),
        Store(NOTICE_KIND, "0000000000000008", msgspec.msgpack.encode(["id", SENDER, 9])),
    ]
    waiting, commands, count = found(old)
    assert (commands, count) == ([], 0)
    (_, held, marks), (_, notice, _) = waiting
    assert held == Held(
        id="id", sender=SENDER, expires_ms=9, owed=[B], noted=True, raw=b"raw", owner="name s"
    )
    assert marks.left == 1
    assert notice == NOTICE


def test_whole_records_are_weighed() -> None:
    assert HELD.weight > len(stored(1, HELD).value) + 2 * 500
    assert NOTICE.weight > len(stored(1, NOTICE).value)


@given(
    st.integers(1, 2_000).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1))))
)
def test_marks_tell_who_has_got_a_message(case: tuple[int, set[int]]) -> None:
    count, done = case
    marks, again = Marks(count), Marks(count)
    for place in done:
        marks.add(place)
    stored_marks: list[Command] = []
    marks.store(3, stored_marks)
    for command in stored_marks:
        assert isinstance(command, Store)
        assert len(command.value) <= 64
        assert again.load(int(command.key.partition("-")[2], 16), command.value)
    assert [place for place in range(count) if place in again] == sorted(done)
    assert marks.left == again.left == count - len(done)
    ends: list[list[Command]] = [[], []]
    again.forget(3, ends[0])
    marks.forget(3, ends[1])
    assert ends[0] == ends[1]
    marks.store(3, nothing := list[Command]())
    assert nothing == []


@pytest.mark.parametrize(
    ("block", "bits"), [(0, b""), (0, b"\x00\x00"), (1, b"\x01"), (0, b"\x08"), (9**9, b"\x01")]
)
def test_marks_of_another_message_are_not_taken(block: int, bits: bytes) -> None:
    assert not Marks(3).load(block, bits)


def test_what_cannot_be_read_is_set_aside_and_others_are_not_touched() -> None:
    good = stored(1, HELD)
    broken = [
        Store(HELD_KIND, "0000000000000002", b"\xc1"),
        Store(NOTICE_KIND, "not a number", good.value),
        Store(NOTICE_KIND, "0000000000000003", b""),
        Store(DONE_KIND, "0000000000000009-000", b"\1"),
        Store(DONE_KIND, "0000000000000001", b"\1"),
        Store(DONE_KIND, "0000000000000001-001", b"\1"),
    ]
    before = Store(UNREADABLE_KIND, "cthun-held 1", b"")
    waiting, commands, count = found([*broken, Store("another", "1", b""), before, good])
    assert [number for number, _, _ in waiting] == [1]
    assert count == 1 + len(broken)
    assert {(c.kind, c.key) for c in commands if isinstance(c, Forget)} == {
        (record.kind, record.key) for record in broken
    }
    assert {(c.kind, c.key) for c in commands if isinstance(c, Store)} == {
        (UNREADABLE_KIND, f"{record.kind} {record.key}") for record in broken
    }
