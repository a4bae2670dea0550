"""What is stored of the captures stands in the logs, beside the rows."""

from pathlib import Path

import pytest

from support.nodes import captured
from wireloom.capture.writer import CaptureWriter
from wireloom.pipeline import frame_tables
from wireloom.pipeline.source import available
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.taken import Ledger, OutdatedError, Portion

GOOD = bytes.fromhex("792000")
ALL = tuple(table.name for table in frame_tables.ingested())


class Bench:
    """Captures, and tables whose logs are kept by hand."""

    def __init__(self, folder: Path) -> None:
        self.captures = folder / "captures"
        self.store = TableStore(folder / "tables")

    def write(self, node: str, *batches: int) -> str:
        """Captures batches of frames; gives the segment's name."""
        before = set(available(self.captures)) if self.captures.exists() else set()
        with CaptureWriter(self.captures, node) as writer:
            for count in batches:
                for _ in range(count):
                    writer.append(captured("uep12", GOOD, 0, node))
                writer.flush()
        (name,) = set(available(self.captures)) - before
        return name

    def ledger(self) -> Ledger:
        """One that has to look into the logs."""
        return Ledger(self.captures, self.store)

    def next(self, most: int = 100) -> Portion:
        portion = self.ledger().next(most)
        assert portion is not None
        return portion

    def commit(self, portion: Portion, tables: tuple[str, ...] = ALL) -> None:
        """Notes a portion as the commits of ingest do."""
        for table in frame_tables.ingested():
            if table.name in tables and table.name in portion.tables:
                self.store.log.commit(table, [], portion.marks())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_slice_takes_whole_batches_up_to_a_limit(bench: Bench) -> None:
    a, b = bench.write("a", 3, 4), bench.write("b", 5)
    first = bench.next(7)
    assert (first.place, first.tables, first.rows, first.end) == (0, ALL, 7, {a: 2})
    assert first.is_whole
    assert first.marks() == {f"taken {a}": 2, "taken": 0, frame_tables.SLICE: 0}
    bench.commit(first)
    second = bench.next(1)
    assert (second.place, second.rows, second.end) == (1, 5, {a: 2, b: 1})
    assert second.marks() == {f"taken {b}": 1, "taken": 1, frame_tables.SLICE: 1}
    bench.commit(second)
    assert bench.ledger().next() is None
    assert bench.ledger().taken() == {a: 2, b: 1}


def test_what_was_committed_need_not_be_read_again(bench: Bench) -> None:
    a = bench.write("a", 1, 1)
    ledger = bench.ledger()
    portion = ledger.next(1)
    assert portion is not None
    bench.commit(portion)
    ledger.stored(portion)
    again = ledger.next(1)
    assert again is not None
    assert (again.place, again.end) == (1, {a: 2})
    assert ledger.taken() == {a: 1}


def test_a_table_that_lacks_a_slice_gets_it_before_anything_else(bench: Bench) -> None:
    a = bench.write("a", 2)
    bench.commit(bench.next(), ("frames",))
    bench.write("a", 3)
    late = bench.next()
    assert (late.place, late.tables, late.rows, late.end) == (
        0,
        ("quarantine", "batched"),
        2,
        {a: 1},
    )
    assert late.is_whole
    assert bench.ledger().taken() == {}
    bench.commit(late)
    assert (bench.next().place, bench.next().rows) == (1, 3)


def test_a_table_that_was_deleted_gets_all_in_several_portions(bench: Bench) -> None:
    a = bench.write("a", 2, 3)
    for table in frame_tables.ingested()[:2]:
        done = {f"taken {a}": 2, "taken": 1, frame_tables.SLICE: 1}
        bench.store.log.commit(table, [], done)
    part = bench.next(2)
    assert (part.place, part.tables, part.end, part.is_whole) == (1, ("batched",), {a: 1}, False)
    assert part.marks() == {f"taken {a}": 1, "taken": 1}, "the slice is not complete yet"
    bench.commit(part)
    rest = bench.next(2)
    assert (rest.end, rest.is_whole) == ({a: 2}, True)
    bench.commit(rest)
    assert bench.ledger().next(2) is None


def test_tables_that_do_not_say_what_is_stored_are_refused(bench: Bench) -> None:
    bench.write("a", 2)
    for table in frame_tables.ingested():
        bench.store.log.commit(table, [], {"ingest": 0, frame_tables.SLICE: 0})
    with pytest.raises(OutdatedError, match="made by an earlier version of Wireloom: delete them"):
        bench.ledger().next()


def test_segments_that_were_deleted_are_no_longer_told_of(bench: Bench) -> None:
    a = bench.write("a", 2)
    bench.commit(bench.next())
    for path in bench.captures.iterdir():
        path.unlink()
    b = bench.write("b", 1)
    assert a not in bench.ledger().taken()
    assert bench.next().end == {b: 1}


def test_a_slice_without_rows_in_a_table_is_noted_there_as_well(bench: Bench) -> None:
    bench.write("a", 1)
    bench.commit(bench.next())
    assert {bench.store.log.done(name, frame_tables.SLICE) for name in ALL} == {0}
