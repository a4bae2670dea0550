"""What waits, by itself."""

import tracemalloc
from typing import Any

import msgspec

from wireloom.protocols.signalhub.hub.mailboxes import (
    PARCEL_KIND,
    REPORT_KIND,
    Mailboxes,
    Parcel,
    Report,
    Reports,
    restored,
)
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.session import Forget, Store
from wireloom.wire.shares import Shares


def settings(**more: Any) -> HubSettings:
    return HubSettings(secret=b"s" * 16, **more)


def parcel(number: int, **more: Any) -> Parcel:
    base: dict[str, Any] = {
        "id": str(number),
        "sender": "@(s)",
        "owner": "@(s)",
        "target": "@(t)",
        "ask": True,
        "type": "x",
        "payload": b"12345",
        "metadata": {},
        "deadline_ms": 100 + number,
    }
    return Parcel(**{**base, **more})


def report(number: int, sender: str = "@(s)") -> Report:
    return Report(id=str(number), sender=sender, owner=sender, target="@(t)", until_ms=100 + number)


def mailboxes(**more: Any) -> Mailboxes:
    made = settings(**more)
    return Mailboxes(made, Shares(made.max_all_queued, made.max_queued_size))


def reporting(**more: Any) -> Reports:
    made = settings(**more)
    return Reports(made, Shares(made.max_all_queued, made.max_queued_size))


def emptied(boxes: Mailboxes, target: str) -> list[str]:
    taken = []
    while parcel := boxes.take(target):
        taken.append(parcel.id)
    return taken


def weight_of(boxes: Mailboxes) -> int:
    return vars(boxes)["_shares"].size  # type: ignore[no-any-return]


def test_parcels_come_out_in_the_order_they_went_in() -> None:
    boxes = mailboxes()
    for number in (3, 1, 2):
        assert boxes.offer(parcel(number)) == parcel(number).store()
    boxes.offer(parcel(9, target="@(u)"))
    assert boxes.count == 4
    assert emptied(boxes, "@(t)") == ["3", "1", "2"]
    assert emptied(boxes, "@(t)") == []
    assert boxes.count == 1
    assert emptied(boxes, "@(u)") == ["9"]
    assert (boxes.boxes, weight_of(boxes)) == ({}, 0)


def test_a_box_holds_a_parcel_by_owner_and_id() -> None:
    boxes = mailboxes()
    boxes.offer(parcel(1))
    assert boxes.holds(parcel(1, payload=b""))
    assert not boxes.holds(parcel(1, owner="@(other)"))
    assert not boxes.holds(parcel(1, target="@(other)"))


def test_a_parcel_weighs_all_that_is_kept_of_it() -> None:
    tracemalloc.start()
    boxes = mailboxes()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(200):
        name = f"@(somebody \U0001f600/{number})"
        metadata = {"traceId": "t" * 200}
        boxes.offer(parcel(number, type="x" * 10_000, target=name, metadata=metadata))
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown <= weight_of(boxes) <= 1.5 * grown


def test_a_sender_has_a_share_of_a_box_and_of_all() -> None:
    boxes = mailboxes(max_queued=2, max_all_queued=8)
    made = [boxes.offer(parcel(number, account="a")) for number in range(3)]
    assert [one is not None for one in made] == [True, True, False]
    made = [boxes.offer(parcel(number, account="b")) for number in range(3, 5)]
    assert [one is not None for one in made] == [True, False]
    others = [boxes.offer(parcel(5, account="a", target=f"@({n})")) for n in range(5)]
    assert [one is not None for one in others] == [True, True, False, False, False]


def test_what_an_earlier_life_promised_is_kept_whatever_the_share() -> None:
    boxes = mailboxes(max_queued=1, max_all_queued=1)
    for number in range(3):
        boxes.restore(parcel(number))
        boxes.restore(parcel(number))
    assert boxes.count == 3
    assert boxes.offer(parcel(3)) is None
    assert emptied(boxes, "@(t)") == ["0", "1", "2"]


def test_parcels_expire_after_their_deadline() -> None:
    boxes = mailboxes()
    boxes.offer(parcel(2))
    boxes.offer(parcel(1))
    assert boxes.next_deadline_ms("@(t)") == 101
    assert boxes.expired("@(t)", 101) == []
    assert [one.id for one in boxes.expired("@(t)", 102)] == ["1"]
    assert [one.id for one in boxes.expired("@(t)", 103)] == ["2"]
    assert boxes.next_deadline_ms("@(t)") is None
    assert boxes.expired("@(t)", 999) == []
    assert (boxes.count, weight_of(boxes)) == (0, 0)


def test_deadlines_of_parcels_that_are_gone_do_not_pile_up() -> None:
    boxes = mailboxes()
    boxes.offer(parcel(0))
    for number in range(1, 1_000):
        boxes.offer(parcel(number))
        assert boxes.take("@(t)") is not None
    assert len(boxes.boxes["@(t)"].deadlines) < 100
    assert boxes.next_deadline_ms("@(t)") == 1_099
    assert [one.id for one in boxes.expired("@(t)", 9_999)] == ["999"]


def test_reports_make_way_for_newer_ones_of_the_same_sender() -> None:
    reports = reporting(max_reports=2)
    assert reports.put(report(1)) is None
    assert reports.put(report(2)) is None
    assert reports.put(report(2)) is None
    assert reports.put(report(3)) == report(1)
    assert reports.count == 2
    assert reports.empty("@(s)") == [report(2), report(3)]
    assert reports.count == vars(reports)["_shares"].size == 0


def test_a_report_takes_no_more_than_its_parcel() -> None:
    boxes, reports = mailboxes(), reporting()
    long = parcel(1, type="", payload=b"", deadline_ms=2**40, account="someone", ask=False)
    boxes.offer(long)
    reports.put(
        Report(id=long.id, sender="@(s)", target="@(t)", until_ms=2**40 + 1, account="someone")
    )
    assert vars(reports)["_shares"].size <= weight_of(boxes)


def test_reports_expire() -> None:
    reports = reporting()
    reports.put(report(2))
    reports.put(report(1))
    assert reports.next_end_ms("@(s)") == 101
    assert reports.expired("@(s)", 101) == [report(1)]
    assert reports.expired("@(s)", 102) == [report(2)]
    assert reports.next_end_ms("@(s)") is None
    assert reports.count == 0


def test_what_waits_comes_back_from_the_store_as_it_was() -> None:
    for one in (parcel(1), report(1)):
        stored = one.store()
        assert restored(stored) == one
        assert one.forget() == Forget(stored.kind, stored.key)
    assert restored(Store("parcel", "k", b"")) is None
    assert restored(Store("report", "k", parcel(1).store().value[:-1])) is None


def test_what_an_older_hub_stored_belongs_to_its_sender() -> None:
    for one in (parcel(1, sender="@(o)", owner=""), report(1, sender="@(o)")):
        kind = PARCEL_KIND if isinstance(one, Parcel) else REPORT_KIND
        old = msgspec.to_builtins(one, builtin_types=(bytes,))
        del old["owner"]
        found = restored(Store(kind, "key", msgspec.msgpack.encode(old)))
        assert found is not None
        assert (found.owner, found.sender) == ("@(o)", "@(o)")
