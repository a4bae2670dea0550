"""What came since a table was computed, and what of the table it touches.

New rows are those of new slices, and those whose verdict has changed. From them follow the
messages, contents and minutes that are touched, and from these the rows that the table is computed
from. What several tables need is gathered once.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import cached_property
from threading import RLock
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.pipeline import frame_tables
from wireloom.pipeline.derived import DERIVED, Derived
from wireloom.pipeline.frame_tables import Span
from wireloom.pipeline.paths import leaf
from wireloom.pipeline.scopes import MENTIONS, By
from wireloom.pipeline.sighted import Sighted, of_types

MINUTE: Final = timedelta(minutes=1)

_ALWAYS: Final = ("protocol", "type", "content", "captured_at", "sighting")
"""What is to be known of every new row."""


class Touched(NamedTuple):
    """What is computed anew of a table."""

    keys: pa.Array
    """Rows with one of these values, in the column that the table's scope names, are replaced."""

    seen: pa.Table
    """The sightings that they are computed from."""

    refused: pa.Table
    """The refused frames that they are computed from."""


class Changes:
    """What came after a slice.

    Args:
        sighted: The sightings up to now.
        start: The slice.
    """

    def __init__(self, sighted: Sighted, start: int) -> None:
        self._sighted = sighted
        self._start = start
        self._lock = RLock()

    @cached_property
    def fresh(self) -> pa.Table:
        """The new rows, with the columns that say what they touch."""
        with self._lock:
            known = [*_looked_at(By.NODE), *_looked_at(By.FRAME), *self._mentions, *_ALWAYS]
            return self._sighted.fresh(list(dict.fromkeys(known)), self._start)

    def concern(self, derived: Derived) -> bool:
        """Whether there are new rows among those that a table is computed from."""
        scope = derived.scope
        seen = bool(scope.looks_at) and of_types(self.fresh, scope.protocol, scope.types).num_rows
        return bool(seen) or bool(scope.refused and self._refused(derived).num_rows)

    def touched(self, derived: Derived) -> Touched:
        """What they touch of a table."""
        with self._lock:
            match derived.scope.by:
                case By.MESSAGE:
                    return self._by_message(derived)
                case By.CONTENT:
                    return self._by_content(derived)
                case By.MINUTE:
                    return self._by_minute(derived)
                case _:
                    return self._by_frame(derived)

    def _by_message(self, derived: Derived) -> Touched:
        rows = of_types(self._related, derived.scope.protocol, ())
        return Touched(self.messages, rows, self._nothing_refused(derived))

    def _by_content(self, derived: Derived) -> Touched:
        contents = pc.unique(self.fresh.column("content")).drop_null()
        rows = self._sighted.holding(derived.scope.looks_at, ["content"], contents)
        return Touched(contents, rows, self._nothing_refused(derived))

    def _by_frame(self, derived: Derived) -> Touched:
        refused = self._refused(derived)
        keys = [*self.fresh.column("sighting").chunks, *refused.column("sighting").chunks]
        every = pa.chunked_array(keys, pa.string()).combine_chunks()
        return Touched(every, self.fresh, refused)

    def _by_minute(self, derived: Derived) -> Touched:
        came = [self.fresh, self._refused(derived)]
        times = [chunk for rows in came for chunk in rows.column("captured_at").chunks]
        minutes = pc.unique(
            pc.floor_temporal(pa.chunked_array(times, pa.timestamp("us", "UTC")), unit="minute")
        )
        spans = [Span(begin, begin + MINUTE) for begin in minutes.to_pylist()]
        return Touched(
            minutes,
            self._sighted.between(derived.scope.looks_at, spans),
            self._sighted.refused_between(derived.scope.refused, spans),
        )

    @cached_property
    def messages(self) -> pa.Array:
        """The messages that new rows are or refer to, and those whose time has come."""
        ids = [chunk for path in self._mentions for chunk in leaf(self.fresh, path).chunks]
        for derived in _by(By.MESSAGE):
            ids += self._due(derived)
        return pc.unique(pa.chunked_array(ids, pa.string())).drop_null()

    def _due(self, derived: Derived) -> list[pa.Array]:
        """The messages whose rows change now that time has gone on."""
        waits = derived.scope.waits
        if waits is None:
            return []
        horizon = pa.scalar(self._sighted.horizon_ms * 1000, pa.timestamp("us", "UTC"))
        found: list[pa.Array] = []
        store = self._sighted.store
        columns = ["message_id", *waits.columns]
        values = pa.array([waits.value])
        for _, rows in store.holding(derived.table, columns, [waits.column], values):
            open_ = rows.filter(pc.field(waits.column) == waits.value)
            if waits.until is not None:
                open_ = open_.filter(pc.field(waits.until) < horizon)
            found += open_.column("message_id").chunks
        return found

    @cached_property
    def _mentions(self) -> list[str]:
        also = [path for derived in _by(By.MESSAGE) for path in derived.scope.mentions]
        return [*MENTIONS, *also]

    @cached_property
    def _related(self) -> pa.Table:
        """All frames that are one of these messages or refer to one."""
        return self._sighted.holding(_looked_at(By.MESSAGE), self._mentions, self.messages)

    def _refused(self, derived: Derived) -> pa.Table:
        columns = list(dict.fromkeys([*derived.scope.refused, "sighting", "captured_at"]))
        return self._sighted.refused(columns, after=self._start)

    def _nothing_refused(self, derived: Derived) -> pa.Table:
        return frame_tables.none_refused(derived.scope.refused)


def _by(by: By) -> list[Derived]:
    return [derived for derived in DERIVED if derived.scope.by is by]


def _looked_at(by: By) -> Sequence[str]:
    """All columns that the tables of a scope look at."""
    return list(dict.fromkeys(path for one in _by(by) for path in one.scope.looks_at))
