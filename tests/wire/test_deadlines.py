from wireloom.wire.deadlines import Deadlines


def test_keys_end_earliest_first() -> None:
    kept = {"a", "b", "c"}
    deadlines = Deadlines(kept)
    for key, at_ms in (("a", 30), ("b", 10), ("c", 20)):
        deadlines.add(key, at_ms)
    assert deadlines.next_ms == 10
    assert list(deadlines.due(20)) == ["b", "c"]
    assert deadlines.next_ms == 30


def test_keys_that_are_gone_are_passed_over() -> None:
    kept = {"a": 1, "b": 2}
    deadlines = Deadlines(kept)
    deadlines.add("a", 10)
    deadlines.add("b", 20)
    del kept["a"]
    assert deadlines.next_ms == 20
    assert list(deadlines.due(100)) == ["b"]
    assert deadlines.next_ms is None


def test_stale_entries_are_dropped_when_they_are_many() -> None:
    kept: dict[int, None] = {}
    deadlines = Deadlines(kept)
    for number in range(1_000):
        kept[number] = None
        deadlines.add(number, 10_000 - number)
        if number >= 10:
            del kept[number - 10]
        deadlines.tidy(len(kept))
        assert len(deadlines) <= 2 * len(kept) + 66
    assert list(deadlines.due(10_000)) == list(range(999, 989, -1))
