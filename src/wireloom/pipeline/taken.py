"""How much of the captures is stored: it stands in the logs of the tables, beside the rows.

Each commit of ingest says, in the same transaction, which slice it is and how many batches of each
segment are stored with it (`taken <segment>`). So rows and offsets cannot disagree, whatever is
killed or deleted. Where a table lacks a slice that another one has (a crash came between two
commits, or the table was deleted), what it lacks is stored again, and only there.
"""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from wireloom.pipeline import frame_tables
from wireloom.pipeline.source import Offset, Run, advance, available, runs
from wireloom.pipeline.store import TableStore
from wireloom.remote import AnyPath

MAX_ROWS: Final = 500_000
"""Rows of a slice, at the most."""


_KEPT: Final = "taken"
"""The application that every commit of ingest names: tables without it are an earlier version's."""


class OutdatedError(RuntimeError):
    """The tables do not say how far each segment is stored."""


class Portion(NamedTuple):
    """What is stored next, in one slice."""

    place: int
    """The slice."""

    tables: tuple[str, ...]
    """The tables that get it: all, or those that lack it."""

    runs: list[Run]
    """The batches that are read."""

    end: Offset
    """What is stored of each segment with it."""

    is_whole: bool
    """Whether the slice is complete with it; only what is stored again may take several."""

    @property
    def rows(self) -> int:
        """How many frames it has."""
        return sum(run.rows for run in self.runs)

    def marks(self) -> dict[str, int]:
        """How far a table is with it, for its log."""
        moved = {run.segment.name for run in self.runs}
        found = {_app(name): self.end[name] for name in sorted(moved)} | {_KEPT: self.place}
        return {**found, frame_tables.SLICE: self.place} if self.is_whole else found


class Ledger:
    """How many batches of each segment the tables have.

    Args:
        captures: Where the segments are.
        store: The tables.
    """

    def __init__(self, captures: AnyPath, store: TableStore) -> None:
        self._captures = captures
        self._store = store
        self._known: dict[str, dict[str, int]] = {}

    def taken(self) -> Offset:
        """What all tables have of the segments that are there now."""
        return self._least(available(self._captures), self._names())

    def next(self, most: int = MAX_ROWS) -> Portion | None:
        """What is to be stored next; None if everything is."""
        there = available(self._captures)
        places = {name: self._place(name) for name in self._names()}
        last = max(places.values())
        late = tuple(name for name, place in places.items() if place < last)
        if late:
            return self._again(there, late, last, most)
        begin = self._least(there, self._names())
        end = advance(self._captures, begin, there, most)
        if end == begin:
            return None
        found = runs(self._captures, begin, end)
        return Portion(last + 1, self._names(), found, end, is_whole=True)

    def stored(self, portion: Portion) -> None:
        """Remembers what was committed."""
        for name in portion.tables:
            self._known.setdefault(name, {}).update(portion.end)

    def _place(self, table: str) -> int:
        """The last slice that a table has.

        Raises:
            OutdatedError: If an earlier version made it.
        """
        place, kept = self._store.log.all_done(table, [frame_tables.SLICE, _KEPT])
        if kept < 0 <= place:
            raise OutdatedError(
                f"the tables in {self._store.root} were made by an earlier version of Wireloom: "
                "delete them and run again, which makes them anew from the captures"
            )
        return place

    def _again(self, there: Offset, late: tuple[str, ...], last: int, most: int) -> Portion:
        """What some tables lack of the slices that others have."""
        ahead = [name for name in self._names() if name not in late]
        begin = self._least(there, late)
        target = self._least(there, ahead)
        end = advance(self._captures, begin, target, most)
        is_whole = all(end.get(name, 0) >= count for name, count in target.items())
        return Portion(last, late, runs(self._captures, begin, end), end, is_whole=is_whole)

    def _least(self, there: Offset, tables: Sequence[str]) -> Offset:
        """The least that some tables have of each segment; those that lack one are left out."""
        counts = [self._counts(table, there) for table in tables]
        least = {name: min(one[name] for one in counts) for name in sorted(there)}
        return {name: count for name, count in least.items() if count}

    def _counts(self, table: str, segments: Collection[str]) -> dict[str, int]:
        known = self._known.setdefault(table, {})
        strange = [name for name in segments if name not in known]
        done = self._store.log.all_done(table, [_app(name) for name in strange])
        known.update(zip(strange, (max(0, count) for count in done), strict=True))
        return known

    @staticmethod
    def _names() -> tuple[str, ...]:
        return tuple(table.name for table in frame_tables.ingested())


def _app(segment: str) -> str:
    return f"taken {segment}"
