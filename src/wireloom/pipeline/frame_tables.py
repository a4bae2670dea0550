"""The tables that ingest fills: what was captured, decoded or refused."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache, reduce
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from wireloom.pipeline.decoding import schema
from wireloom.pipeline.log import File
from wireloom.pipeline.paths import leaf, project
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Column, Table, columns_of
from wireloom.registry import NAMES
from wireloom.registry import protocol as protocol_named
from wireloom.wire.columns import DECODED

REFUSAL: Final = ("reason", "detail", "offset")
MESSAGE: Final = frozenset({*DECODED.names, *NAMES}.difference(REFUSAL))
"""Columns that only a frame that decodes can have."""

REWRITTEN: Final = "rewritten"
"""The application whose version is the slice at which frames were last decoded anew."""

SLICE: Final = "slice"
"""A column of these tables, and the application that counts their slices."""

_TELLING: Final = ("protocol", "type", SLICE)
"""Columns that tell whether a frame is of some types and slices."""


class Span(NamedTuple):
    """A time from its begin up to, not including, its end."""

    begin: datetime
    end: datetime


KIND: Final = "kind"
"""The column that names the table of a row; no table has it."""

MEANINGS: Final = {
    "sighting": "The row's identity: node, `#`, and the frame's sequence number there.",
    "slice": "The micro-batch that brought it, counted from 0.",
    "captured_at": "When the node saw the frame, by the node's clock.",
    "node": "The node that saw it.",
    "protocol": "What it is.",
    "link": "The link that it was seen on; names that begin with `lora` are LoRa links.",
    "direction": "`in`, `out`, or `local` for a frame that was composed there.",
    "peer": "Who was at the other end.",
    "outcome": "What the node says became of the frame.",
    "outcome_reason": "Why the node refused it.",
    "swarm": "The swarm that it belongs to (UEP-12).",
    "epoch_ms": "That swarm's epoch.",
    "size": "Bytes of the frame.",
    "reason": "Why the frame is refused.",
    "detail": "What is wrong with it, for a person.",
    "offset": "The byte where it goes wrong.",
    "type": "The message type by its specification's own name.",
    "message_id": "The message's identity.",
    "source": "Who sent it.",
    "destination": "For whom it is.",
    "targets": "For whom it is, where the protocol addresses a list (Cthun).",
    "cast": "How many it is meant for.",
    "created_ms": "When it was made, by its sender's clock.",
    "expires_ms": "When its lifetime ends.",
    "priority_rank": "0 (most urgent) to 4.",
    "hops": "How many nodes carried it so far.",
    "reply_to": "The message that this one answers, acknowledges or reports on.",
    "payload_size": "Bytes of the frame that are its payload.",
    "content": "A hash of what does not change on the frame's way.",
    "decoder": "The version of Wireloom that decoded it.",
    "raw": "The frame.",
    **{name: f"All fields of a {name} message; null in other rows." for name in NAMES},
}
UNITS: Final = {
    "captured_at": "µs, UTC",
    "epoch_ms": "ms",
    "size": "bytes",
    "offset": "bytes",
    "created_ms": "ms since 1970",
    "expires_ms": "ms since 1970",
    "payload_size": "bytes",
}


@cache
def frames() -> Table:
    """One row a sighting of a frame that decodes."""
    return Table(
        "frames",
        "One row a sighting: a frame that decodes, as one node saw it.",
        tuple(column for column in _columns() if column.name not in REFUSAL),
        ("sighting",),
    )


@cache
def batched() -> Table:
    """One row a frame within a DATA_BATCH."""
    return frames()._replace(
        name="batched",
        about="One row a frame within a DATA_BATCH of the mesh, as if it had been seen by itself. "
        "Its sighting is the batch's, `/`, and its place.",
    )


@cache
def quarantine() -> Table:
    """One row a sighting of a frame that does not decode."""
    return Table(
        "quarantine",
        "One row a sighting of a frame that does not decode, with its bytes. Nothing is dropped.",
        tuple(column for column in _columns() if column.name not in MESSAGE),
        ("sighting",),
    )


def ingested() -> tuple[Table, ...]:
    """All tables that ingest fills."""
    return frames(), quarantine(), batched()


def last_slice(store: TableStore) -> int:
    """The last slice that all tables of ingest have; -1 if there is none."""
    return min(store.log.done(table.name, SLICE) for table in ingested())


def rewritten(store: TableStore) -> int:
    """The slice at which rows were last decoded or stored anew; -1 if they never were."""
    return max(store.log.done(table.name, REWRITTEN) for table in ingested())


def announce(store: TableStore, place: int) -> None:
    """Adds an empty slice after rows were rewritten: all other tables are behind it then."""
    for table in ingested():
        if store.log.done(table.name, SLICE) < place:
            store.log.commit(table, [], {SLICE: place, REWRITTEN: place})


def decoded(
    spark: SparkSession, store: TableStore, *, after: int = -1, upto: int | None = None
) -> DataFrame:
    """All frames that decode, batched ones included, or those of some slices."""
    last = last_slice(store) if upto is None else upto
    parts = [store.read(spark, table, _since(store, table, after)) for table in sighted()]
    return parts[0].union(parts[1]).where(f"{SLICE} > {after} and {SLICE} <= {last}")


def count(store: TableStore, *, after: int) -> int:
    """How many rows the files have that hold what came after a slice."""
    return sum(file.rows for _, file in since(store, after=after))


def since(store: TableStore, *, after: int) -> list[tuple[str, File]]:
    """Tables and files that have the frames that came after a slice."""
    return [(table.name, file) for table in sighted() for file in _since(store, table, after)]


def gathered(
    store: TableStore,
    columns: Sequence[str],
    *,
    after: int,
    upto: int,
    where: pc.Expression | None = None,
) -> pa.Table:
    """Some columns of the frames of some slices, or of some frames, without Spark."""
    wanted = (pc.field(SLICE) > after) & (pc.field(SLICE) <= upto)
    if where is not None:
        wanted &= where
    found = (
        rows
        for table in sighted()
        for _, rows in store.scan(
            table, [*columns, SLICE], _since(store, table, after), where=wanted
        )
    )
    return _together(found, columns)


def holding(
    store: TableStore, columns: Sequence[str], within: Sequence[str], values: pa.Array, *, upto: int
) -> pa.Table:
    """Some columns of the frames that have one of `values` in a column of `within`."""
    found = (
        rows.filter(pc.and_(_among(rows, within, values), pc.less_equal(rows.column(SLICE), upto)))
        for table in sighted()
        for _, rows in store.holding(table, [*{*columns, *within}, SLICE], within, values)
    )
    return project(_together(found, columns), columns)


def between(
    store: TableStore, table: Table, columns: Sequence[str], spans: Sequence[Span], *, upto: int
) -> pa.Table:
    """Some columns of the rows of a table of ingest that were captured in one of some spans."""
    found = (
        rows.filter(pc.and_(_within(rows, spans), pc.less_equal(rows.column(SLICE), upto)))
        for file in store.log.files(table.name)
        if any(_may_be_in(file, span) for span in spans)
        for _, rows in store.scan(table, [*{*columns, "captured_at"}, SLICE], [file])
    )
    return _together(found, columns, table)


def chosen(
    store: TableStore,
    columns: Sequence[str],
    protocol: str | None,
    types: Sequence[str],
    upto: int,
) -> Iterator[pa.Table]:
    """Some columns of the frames of a protocol and of some types, file by file."""
    wanted = pc.field(SLICE) <= upto
    if protocol is not None:
        wanted &= pc.field("protocol") == protocol
    if types:
        wanted &= pc.field("type").isin(types)
    for table in sighted():
        for rows in store.choose(table, columns, wanted, _TELLING):
            yield project(rows, columns)


def tally(store: TableStore, *, upto: int) -> dict[tuple[str, str], int]:
    """How many frames there are of each protocol and type."""
    found: Counter[tuple[str, str]] = Counter()
    for table in sighted():
        for _, rows in store.scan(table, _TELLING, where=pc.field(SLICE) <= upto):
            counted = rows.group_by(["protocol", "type"]).aggregate([([], "count_all")])
            for row in counted.to_pylist():
                found[row["protocol"], row["type"]] += row["count_all"]
    return dict(found)


def refused(store: TableStore, columns: Sequence[str], *, after: int, upto: int) -> pa.Table:
    """Some columns of the frames of some slices that do not decode."""
    wanted = (pc.field(SLICE) > after) & (pc.field(SLICE) <= upto)
    files = _since(store, quarantine(), after)
    found = (rows for _, rows in store.scan(quarantine(), [*columns, SLICE], files, where=wanted))
    return _together(found, columns, quarantine())


def none_refused(columns: Sequence[str]) -> pa.Table:
    """No such frames."""
    return project(quarantine().arrow.empty_table(), columns)


def _together(
    found: Iterable[pa.Table], columns: Sequence[str], table: Table | None = None
) -> pa.Table:
    """Rows of several files as one table, with these columns alone."""
    parts = [project(rows, columns) for rows in found]
    empty = project((table or frames()).arrow.empty_table(), columns)
    return pa.concat_tables([empty, *parts])


def _among(rows: pa.Table, within: Sequence[str], values: pa.Array) -> pa.ChunkedArray:
    hits = [pc.is_in(leaf(rows, path), value_set=values) for path in within]
    return reduce(pc.or_, hits)


def _may_be_in(file: File, span: Span) -> bool:
    if file.earliest is None or file.latest is None:
        return True
    return file.earliest < span.end and span.begin <= file.latest


def _within(rows: pa.Table, spans: Sequence[Span]) -> pa.ChunkedArray:
    at = rows.column("captured_at")
    hits = [pc.and_(pc.greater_equal(at, one.begin), pc.less(at, one.end)) for one in spans]
    return reduce(pc.or_, hits)


def horizon_ms(store: TableStore, *, upto: int) -> int:
    """The latest capture up to a slice; 0 if there is none."""
    latest = 0
    for table in (frames(), quarantine()):
        for file in store.log.files(table.name):
            if file.last <= upto and file.latest is not None:
                latest = max(latest, round(file.latest.timestamp() * 1000))
            elif file.first <= upto:
                ((_, rows),) = store.scan(table, ["captured_at", SLICE], [file])
                last = pc.max(rows.filter(pc.field(SLICE) <= upto).column("captured_at"))
                latest = max(latest, last.value // 1000)
    return latest


def sighted(protocol: str | None = None) -> tuple[Table, ...]:
    """The tables that have sightings, or that may have those of a protocol."""
    if protocol is not None and protocol_named(protocol).batches is None:
        return (frames(),)
    return frames(), batched()


def _since(store: TableStore, table: Table, after: int) -> list[File]:
    return [file for file in store.log.files(table.name) if file.last > after]


def _columns() -> tuple[Column, ...]:
    first, *others = [
        column._replace(unit=UNITS.get(column.name, ""))
        for column in columns_of(schema(), MEANINGS)
        if column.name != KIND
    ]
    return first, Column(SLICE, "bigint", MEANINGS[SLICE]), *others
