"""What a simulated machine keeps."""

from wireloom.sim.records import MemoryRecords
from wireloom.wire.session import Store


def test_records_are_kept_when_they_are_synced_in_their_order() -> None:
    records = MemoryRecords()
    assert records.put(("echo", "kind", "a"), b"1") == 1
    assert records.put(("echo", "kind", "b"), b"2") == 2
    assert len(records) == 2
    assert records.stored() == []
    assert records.sync() == 2
    records.put(("echo", "kind", "a"), b"3")
    records.put(("echo", "kind", "none"), None)
    assert records.sync() == 4
    assert records.stored() == [Store("kind", "a", b"3"), Store("kind", "b", b"2")]
    records.put(("echo", "kind", "a"), None)
    records.sync()
    assert records.kept == {("kind", "b"): b"2"}


def test_what_was_on_its_way_is_lost_in_a_crash() -> None:
    records = MemoryRecords()
    records.put(("echo", "kind", "a"), b"1")
    records.crash()
    assert records.sync() == 1
    assert records.kept == {}


def test_a_crash_may_find_the_first_of_those_on_their_way_kept() -> None:
    records = MemoryRecords()
    for name in "abc":
        records.put(("echo", "kind", name), b"1")
    records.crash(kept=2)
    assert records.stored() == [Store("kind", "a", b"1"), Store("kind", "b", b"1")]
    records.crash(kept=5)


def test_a_sync_keeps_what_was_put_before_it_began() -> None:
    records = MemoryRecords()
    first = records.put(("echo", "kind", "a"), b"1")
    records.put(("echo", "kind", "b"), b"1")
    assert records.sync(first) == first
    assert records.stored() == [Store("kind", "a", b"1")]
    assert len(records) == 1
