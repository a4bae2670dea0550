"""Sightings as Arrow rows in this process: for a few rows this is cheaper than a Spark job.

They are those of `frames` and `batched` up to a slice, with `auth` and `believed` as the transform
`sightings` gives them.
"""

from collections.abc import Sequence
from functools import cached_property, reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.pipeline import frame_tables
from wireloom.pipeline.derived import DERIVED
from wireloom.pipeline.frame_tables import Span
from wireloom.pipeline.judged_tables import REJUDGED, VERDICTS
from wireloom.pipeline.paths import project
from wireloom.pipeline.scopes import Scope
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.transforms.sightings import BELIEVED
from wireloom.wire.outcome import Auth

_JUDGED: Final = ("auth", "believed")
_KEYS: Final = ("protocol", "content")
MANY_CONTENTS: Final = 20_000
"""From this number on, all verdicts are read instead of looking for those that are wanted."""


class Sighted:
    """The sightings up to a slice.

    Args:
        store: The tables.
        upto: The slice.
    """

    def __init__(self, store: TableStore, upto: int) -> None:
        self.store = store
        self.upto = upto

    @cached_property
    def horizon_ms(self) -> int:
        """The latest capture."""
        return frame_tables.horizon_ms(self.store, upto=self.upto)

    def whole(self, scope: Scope, most: int) -> pa.Table | None:
        """All that a table is computed from; None if they are more than `most`."""
        if not scope.looks_at:
            return self._none(())
        if self._count(scope) > most:
            return None
        if frame_tables.count(self.store, after=-1) <= most:
            return project(of_types(self._every, scope.protocol, scope.types), scope.looks_at)
        rows = frame_tables.chosen(
            self.store, of_frames(scope.looks_at), scope.protocol, scope.types, self.upto
        )
        found = pa.concat_tables([self._none(scope.looks_at), *rows])
        return self._judged(found, scope.looks_at)

    @cached_property
    def _every(self) -> pa.Table:
        """All of them, with all columns that tables look at."""
        columns = list(dict.fromkeys(path for one in DERIVED for path in one.scope.looks_at))
        rows = frame_tables.gathered(self.store, of_frames(columns), after=-1, upto=self.upto)
        return self._judged(rows, columns)

    def _count(self, scope: Scope) -> int:
        """How many are of a table's protocol and types."""
        if scope.protocol is None and not scope.types:
            return frame_tables.count(self.store, after=-1)
        return sum(
            count
            for (protocol, type_), count in self._tally.items()
            if scope.protocol in (None, protocol) and (not scope.types or type_ in scope.types)
        )

    @cached_property
    def _tally(self) -> dict[tuple[str, str], int]:
        """How many there are of each protocol and type."""
        return frame_tables.tally(self.store, upto=self.upto)

    def fresh(self, columns: Sequence[str], after: int) -> pa.Table:
        """Those that came after a slice, and those whose verdict has changed since."""
        wanted = of_frames(columns)
        parts = [frame_tables.gathered(self.store, wanted, after=after, upto=self.upto)]
        if self.store.log.done(VERDICTS.name, REJUDGED) > after:
            contents = self._judged_after(after)
            parts.append(
                frame_tables.holding(self.store, wanted, ["content"], contents, upto=after)
            )
        return self._judged(pa.concat_tables(parts), columns)

    def holding(self, columns: Sequence[str], within: Sequence[str], values: pa.Array) -> pa.Table:
        """Those that have one of `values` in a column of `within`."""
        found = frame_tables.holding(self.store, of_frames(columns), within, values, upto=self.upto)
        return self._judged(found, columns)

    def between(self, columns: Sequence[str], spans: Sequence[Span]) -> pa.Table:
        """Those that were captured in one of some spans."""
        found = [
            frame_tables.between(self.store, table, of_frames(columns), spans, upto=self.upto)
            for table in frame_tables.sighted()
        ]
        return self._judged(pa.concat_tables(found), columns)

    def refused(self, columns: Sequence[str], *, after: int = -1) -> pa.Table:
        """The frames that do not decode, and came after a slice."""
        return frame_tables.refused(self.store, columns, after=after, upto=self.upto)

    def refused_between(self, columns: Sequence[str], spans: Sequence[Span]) -> pa.Table:
        """Those that were captured in one of some spans."""
        quarantine = frame_tables.quarantine()
        return frame_tables.between(self.store, quarantine, columns, spans, upto=self.upto)

    def _none(self, columns: Sequence[str]) -> pa.Table:
        return project(frame_tables.frames().arrow.empty_table(), of_frames(columns))

    def _judged(self, rows: pa.Table, columns: Sequence[str]) -> pa.Table:
        """The rows with these columns, `auth` and `believed` among them where they are wanted."""
        if set(columns).isdisjoint(_JUDGED):
            return rows
        auth = self._auth(rows)
        believed = pc.is_in(auth, value_set=pa.array([one.value for one in BELIEVED]))
        judged = rows.append_column("auth", auth).append_column("believed", believed)
        return project(judged, columns)

    def _auth(self, rows: pa.Table) -> pa.ChunkedArray:
        verdicts = self._verdicts(pc.unique(rows.column("content")).drop_null())
        theirs, ours = _key(verdicts), _key(rows)
        places = pc.index_in(ours, value_set=theirs.combine_chunks())
        found = pc.take(verdicts.column("auth"), places)
        return pc.fill_null(found, Auth.UNCHECKED.value)

    def _verdicts(self, contents: pa.Array) -> pa.Table:
        """What is known of some contents, and maybe of others."""
        if len(contents) > MANY_CONTENTS:
            return self._all_verdicts
        parts = [
            rows.filter(pc.is_in(rows.column("content"), value_set=contents))
            for _, rows in self.store.holding(VERDICTS, [*_KEYS, "auth"], ["content"], contents)
        ]
        return pa.concat_tables([_empty_verdicts(), *parts])

    @cached_property
    def _all_verdicts(self) -> pa.Table:
        parts = [rows for _, rows in self.store.scan(VERDICTS, [*_KEYS, "auth"])]
        return pa.concat_tables([_empty_verdicts(), *parts])

    def _judged_after(self, slice_: int) -> pa.Array:
        """The contents that were judged after a slice."""
        later = pc.field(frame_tables.SLICE) > slice_
        parts = [
            rows.filter(later).column("content")
            for _, rows in self.store.scan(VERDICTS, ["content", frame_tables.SLICE])
        ]
        chunks = [chunk for part in parts for chunk in part.chunks]
        return pc.unique(pa.chunked_array(chunks, pa.string()))


def of_types(rows: pa.Table, protocol: str | None, types: Sequence[str]) -> pa.Table:
    """Those rows that are of a protocol and of some types; no types are all."""
    wanted = []
    if protocol is not None:
        wanted.append(pc.field("protocol") == protocol)
    if types:
        wanted.append(pc.field("type").isin(types))
    return rows.filter(reduce(lambda one, other: one & other, wanted)) if wanted else rows


def of_frames(columns: Sequence[str]) -> list[str]:
    """The columns of `frames` that are read to know some of the sightings."""
    own = [name for name in columns if name not in _JUDGED]
    keys = _KEYS if len(own) < len(columns) else ()
    return list(dict.fromkeys([*own, *keys]))


def _key(rows: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(rows.column("protocol"), rows.column("content"), " ")


def _empty_verdicts() -> pa.Table:
    return VERDICTS.arrow.empty_table().select([*_KEYS, "auth"])
