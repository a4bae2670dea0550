"""What waits, in memory and on disk."""

import pytest
from msgspec.structs import replace

from wireloom.protocols.cthun.constants import HELD_KIND, NOTICE_KIND
from wireloom.protocols.cthun.held import Allowance, Held, Holding, Notice
from wireloom.protocols.cthun.settings import BrokerSettings
from wireloom.wire.session import Forget, Store

A, B, SENDER = "cth://a/agent", "cth://b/agent", "cth://s/controller"


def held(*owed: str, expires_ms: int = 1_000, raw: bytes = b"raw") -> Held:
    return Held(id="id", sender=SENDER, expires_ms=expires_ms, owed=list(owed), noted=True, raw=raw)


def holding(**limits: int) -> Holding:
    return Holding(replace(BrokerSettings(), **limits))


def test_an_allowance_covers_what_is_left_of_it() -> None:
    allowance = Allowance(2, 10)
    assert allowance.covers(2, 10)
    assert not allowance.covers(3, 0)
    assert not allowance.covers(0, 11)
    allowance.draw(1, 4)
    assert allowance.covers(1, 6)
    assert not allowance.covers(2, 6)


def test_each_record_has_its_own_key_and_keys_sort_by_age() -> None:
    waiting = holding()
    keys = [waiting.hold(held(A)).key for _ in range(300)]
    assert keys == sorted(set(keys))


def test_a_message_is_stored_anew_until_the_last_one_got_it() -> None:
    waiting = holding()
    first = waiting.hold(held(A, B))
    left = waiting.delivered(1, A)
    assert isinstance(left, Store)
    assert (left.kind, left.key) == (first.kind, first.key)
    assert waiting.delivered(1, B) == Forget(HELD_KIND, first.key)
    assert len(waiting) == 0
    assert waiting.targets() == []


def test_what_was_stored_is_taken_up_as_it_was() -> None:
    waiting = holding()
    records = [waiting.hold(held(A, B, raw=bytes(range(256)))), waiting.note(held(A), 5)]
    again = holding()
    assert again.restore(reversed(records)) == []
    assert [message.raw for message in again.messages()] == [bytes(range(256))]
    assert sorted(again.targets()) == [A, B]
    assert [notice.id for _, notice in again.notices_for(SENDER)] == ["id"]
    assert again.hold(held(A)).key > records[1].key


def test_a_record_that_cannot_be_read_is_forgotten_and_others_are_not_touched() -> None:
    good = holding().hold(held(A))
    broken = [
        Store(HELD_KIND, "0000000000000002", b"\xc1"),
        Store(NOTICE_KIND, "not a number", good.value),
        Store(NOTICE_KIND, "0000000000000003", b""),
    ]
    strange = Store("another", "1", b"")
    waiting = holding()
    forgotten = waiting.restore([*broken, strange, good])
    assert {(f.kind, f.key) for f in forgotten if isinstance(f, Forget)} == {
        (record.kind, record.key) for record in broken
    }
    assert len(waiting) == 1


def test_only_what_has_not_expired_is_due() -> None:
    waiting = holding()
    for expires_ms in (10, 30, 20):
        waiting.hold(held(A, expires_ms=expires_ms))
    assert [number for number, _ in waiting.due_for(A, 10)] == [2, 3]
    assert waiting.due_for(B, 0) == []


@pytest.mark.parametrize(
    ("limits", "count"), [({"burst_count": 2}, 2), ({"stalled_size": 21}, 3), ({}, 5)]
)
def test_no_more_is_due_than_may_leave_in_one_turn(limits: dict[str, int], count: int) -> None:
    waiting = holding(**limits)
    for _ in range(5):
        waiting.hold(held(A, raw=bytes(10)))
    assert len(waiting.due_for(A, 0)) == count


def test_things_expire_in_order_and_no_more_than_asked_for() -> None:
    waiting = holding(report_wait_ms=5)
    for expires_ms in (30, 10, 20):
        waiting.hold(held(A, expires_ms=expires_ms))
    waiting.note(held(A), 10)
    assert waiting.next_expiry_ms == 10
    found = []
    for number, _ in waiting.expired(3, 25):
        found.append(number)
        waiting.drop(number)
    assert found == [2, 4, 3]
    assert list(waiting.expired(3, 25)) == []
    assert waiting.next_expiry_ms == 30


def test_a_notice_is_dropped_with_its_record() -> None:
    waiting = holding()
    stored = waiting.note(held(A), 0)
    waiting.note(held(A), 0)
    assert waiting.drop(1) == Forget(NOTICE_KIND, stored.key)
    assert [number for number, _ in waiting.notices_for(SENDER)] == [2]
    waiting.drop(2)
    assert waiting.notices_for(SENDER) == []


@pytest.mark.parametrize("limit", ["held_count", "sender_held_count"])
def test_every_receiver_and_every_notice_counts(limit: str) -> None:
    waiting = holding(**{limit: 3})
    waiting.hold(held(A, B))
    assert waiting.covers(SENDER, 1, 0)
    waiting.note(held(A), 0)
    assert not waiting.covers(SENDER, 1, 0)
    assert waiting.covers("cth://t/controller", 1, 0) == (limit == "sender_held_count")


def test_bytes_count_once_however_many_receive_them() -> None:
    waiting = holding(held_size=100)
    waiting.hold(held(A, B, raw=bytes(60)))
    assert waiting.covers(SENDER, 1, 40)
    assert not waiting.covers(SENDER, 1, 41)
    waiting.delivered(1, A)
    assert not waiting.covers(SENDER, 1, 41)
    waiting.delivered(1, B)
    assert waiting.covers(SENDER, 1, 100)


def test_what_was_delivered_does_not_fill_the_order_of_expiry() -> None:
    waiting = holding()
    for number in range(1, 10_001):
        waiting.hold(held(A, expires_ms=10**12))
        waiting.delivered(number, A)
    assert len(waiting._order) < 2_000
    assert waiting.next_expiry_ms is None
    assert waiting._by_sender == {}


def test_a_notice_keeps_what_the_sender_is_told() -> None:
    waiting = holding(report_wait_ms=7)
    waiting.note(held(A), 100)
    assert waiting.notices_for(SENDER) == [(1, Notice(id="id", sender=SENDER, expires_ms=107))]
