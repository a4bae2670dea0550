"""Maintenance of the tables: their status, compaction, and deletion of old files."""

from collections.abc import Iterator
from typing import NamedTuple

from deltalake import DeltaTable

from wireloom.capture.reader import Damage, known_sums, read_segment
from wireloom.capture.receipts import take_receipt
from wireloom.capture.segment import Segment, segments
from wireloom.pipeline import frame_tables
from wireloom.pipeline.catalogue import all_tables
from wireloom.pipeline.progress import TableStarted, silent
from wireloom.pipeline.source import SkippedFile, passed_over
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.storing import StoredFile
from wireloom.remote import AnyPath


class TableStatus(NamedTuple):
    """One table as it is now."""

    name: str
    version: int
    files: int
    rows: int


class Status(NamedTuple):
    """Everything as it is now."""

    captured: int
    stored: int
    behind: int
    """Captured rows that are in no table yet, those in damaged batches left out."""

    damaged: list[Damage]
    passed_over: list[SkippedFile]
    tables: list[TableStatus]


def status(captures: AnyPath, store: TableStore) -> Status:
    """What is captured, what is stored, and what cannot be read."""
    found = list(segments(captures))
    tables = [_status(store, table.name) for table in all_tables()]
    stored = {table.name: table.rows for table in tables}
    damaged = [one for segment in found for one in read_segment(segment) if isinstance(one, Damage)]
    taken = take_receipt(captures, store.root) or {}
    return Status(
        sum(sum_.rows for segment in found for sum_ in known_sums(segment)),
        stored[frame_tables.frames().name] + stored[frame_tables.quarantine().name],
        sum(_behind(segment, damaged, taken.get(segment.name, 0)) for segment in found),
        damaged,
        passed_over(captures, taken),
        tables,
    )


def _behind(segment: Segment, damaged: list[Damage], taken: int) -> int:
    """Rows of the batches that come after the first `taken` ones and can be read."""
    rows = sum(sum_.rows for sum_ in known_sums(segment)[taken:])
    lost = sum(one.rows for one in damaged if one.segment == segment and one.batch >= taken)
    return rows - lost


def missing(store: TableStore) -> StoredFile | None:
    """A file that a table's log names and that is not there; None if all are."""
    for table in all_tables():
        there = set(store.files.paths(table.name, ""))
        for file in store.log.files(table.name):
            if file.path not in there:
                return StoredFile(table.name, file.path)
    return None


def compact(store: TableStore, *, on_start: TableStarted = silent) -> dict[str, int]:
    """Compacts small files; gives how many files fewer there are, by table."""
    fewer = {}
    for name, opened in _each(store, on_start):
        metrics = opened.optimize.compact()
        fewer[name] = int(metrics["numFilesRemoved"]) - int(metrics["numFilesAdded"])
    return fewer


def vacuum(store: TableStore, *, hours: int, on_start: TableStarted = silent) -> dict[str, int]:
    """Deletes files that no version of the last `hours` needs; gives how many, by table."""
    return {
        name: len(
            opened.vacuum(retention_hours=hours, dry_run=False, enforce_retention_duration=False)
        )
        for name, opened in _each(store, on_start)
    }


def _each(store: TableStore, on_start: TableStarted) -> Iterator[tuple[str, DeltaTable]]:
    """The tables that there are, one after the other."""
    names = [table.name for table in all_tables()]
    for place, name in enumerate(names, start=1):
        opened = store.log.open(name)
        if opened is not None:
            on_start(name, place, len(names))
            yield name, opened


def _status(store: TableStore, name: str) -> TableStatus:
    opened = store.log.open(name)
    if opened is None:
        return TableStatus(name, -1, 0, 0)
    actions = opened.get_add_actions(flatten=True)
    counts = actions.column("num_records").to_pylist()
    return TableStatus(name, opened.version(), len(counts), sum(int(n or 0) for n in counts))
