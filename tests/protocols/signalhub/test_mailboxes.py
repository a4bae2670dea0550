"""What waits, by itself."""

from typing import Any

import msgspec

from wireloom.protocols.signalhub.mailboxes import (
    PARCEL_KIND,
    REPORT_KIND,
    Mailboxes,
    Parcel,
    Report,
    Reports,
    restored,
)
from wireloom.protocols.signalhub.settings import HubSettings
from wireloom.wire.session import Forget, Store


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


def test_parcels_come_out_in_the_order_they_went_in() -> None:
    boxes = Mailboxes(settings())
    for number in (3, 1, 2):
        boxes.put(parcel(number))
    boxes.put(parcel(9, target="@(u)"))
    assert (boxes.count, boxes.size) == (4, 20)
    assert [one.id for one in boxes.empty("@(t)")] == ["3", "1", "2"]
    assert boxes.empty("@(t)") == []
    assert (boxes.count, boxes.size) == (1, 5)


def test_a_box_holds_a_parcel_by_owner_and_id() -> None:
    boxes = Mailboxes(settings())
    boxes.put(parcel(1))
    assert boxes.holds(parcel(1, payload=b""))
    assert not boxes.holds(parcel(1, owner="@(other)"))
    assert not boxes.holds(parcel(1, target="@(other)"))


def test_room_ends_for_each_for_all_and_by_size() -> None:
    boxes = Mailboxes(settings(max_queued=1, max_all_queued=3, max_queued_size=14))
    boxes.put(parcel(1))
    assert not boxes.has_room(parcel(2))
    boxes.put(parcel(2, target="@(u)"))
    assert not boxes.has_room(parcel(3, target="@(v)"))
    assert boxes.has_room(parcel(3, target="@(v)", payload=b"1234"))
    boxes.put(parcel(3, target="@(v)", payload=b""))
    assert not boxes.has_room(parcel(4, target="@(w)", payload=b""))


def test_parcels_expire_after_their_deadline() -> None:
    boxes = Mailboxes(settings())
    boxes.put(parcel(2))
    boxes.put(parcel(1))
    assert boxes.next_deadline_ms("@(t)") == 101
    assert boxes.expired("@(t)", 101) == []
    assert [one.id for one in boxes.expired("@(t)", 102)] == ["1"]
    assert [one.id for one in boxes.expired("@(t)", 103)] == ["2"]
    assert boxes.next_deadline_ms("@(t)") is None
    assert boxes.expired("@(t)", 999) == []
    assert (boxes.count, boxes.size) == (0, 0)


def test_reports_make_way_for_newer_ones_of_the_same_sender() -> None:
    reports = Reports(settings(max_reports=2))
    assert reports.put(report(1)) == []
    assert reports.put(report(2)) == []
    assert reports.put(report(2)) == []
    assert reports.put(report(3)) == [report(1)]
    assert reports.count == 2
    assert reports.empty("@(s)") == [report(2), report(3)]
    assert reports.count == 0


def test_a_report_of_another_sender_is_not_kept_if_there_are_too_many() -> None:
    reports = Reports(settings(max_all_queued=1))
    reports.put(report(1))
    assert reports.put(report(2, "@(other)")) == [report(2, "@(other)")]
    assert reports.count == 1


def test_reports_expire() -> None:
    reports = Reports(settings())
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
