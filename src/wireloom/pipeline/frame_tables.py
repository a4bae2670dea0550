"""The tables that ingest fills: what was captured, decoded or refused."""

from collections.abc import Sequence
from functools import cache
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from wireloom.pipeline.decoding import schema
from wireloom.pipeline.log import File
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Column, Table, columns_of
from wireloom.registry import NAMES
from wireloom.wire.columns import DECODED

REFUSAL: Final = ("reason", "detail", "offset")
MESSAGE: Final = frozenset({*DECODED.names, *NAMES}.difference(REFUSAL))
"""Columns that only a frame that decodes can have."""

FEW: Final = 200_000
"""Up to this number of rows, reading them in this process is cheaper than a Spark job."""

REWRITTEN: Final = "rewritten"
"""The application whose version is the slice at which frames were last decoded anew."""

SLICE: Final = "slice"
"""A column of these tables, and the application that counts their slices."""

MENTIONS: Final = ("message_id", "reply_to")
"""Columns that name a message."""

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


@cache
def stored(table: Table) -> pa.Schema:
    """The columns of one of these tables, for workers, which have no Spark session."""
    known = {field.name: field for field in (*schema(), pa.field(SLICE, pa.int64()))}
    return pa.schema([known[column.name] for column in table.columns])


def last_slice(store: TableStore) -> int:
    """The last slice that all tables of ingest have; -1 if there is none."""
    return min(store.log.done(table.name, SLICE) for table in ingested())


def next_slice(store: TableStore) -> int:
    """The next slice, or the one that a crash left in some tables and not in others."""
    done = [store.log.done(table.name, SLICE) for table in ingested()]
    return max(done) if min(done) < max(done) else max(done) + 1


def rewritten(store: TableStore) -> int:
    """The slice at which frames were last decoded anew; -1 if they never were."""
    return store.log.done(frames().name, REWRITTEN)


def decoded(
    spark: SparkSession, store: TableStore, *, after: int = -1, upto: int | None = None
) -> DataFrame:
    """All frames that decode, batched ones included, or those of some slices."""
    last = last_slice(store) if upto is None else upto
    parts = [store.read(spark, table, _since(store, table, after)) for table in _both()]
    return parts[0].union(parts[1]).where(f"{SLICE} > {after} and {SLICE} <= {last}")


def few(store: TableStore, *, after: int) -> bool:
    """Whether what came after a slice is few enough rows to be read in this process."""
    if after < 0:
        return False
    return count(store, after=after) <= FEW


def count(store: TableStore, *, after: int) -> int:
    """How many rows the files have that hold what came after a slice."""
    return sum(file.rows for _, file in since(store, after=after))


def since(store: TableStore, *, after: int) -> list[tuple[str, File]]:
    """Tables and files that have the frames that came after a slice."""
    return [(table.name, file) for table in _both() for file in _since(store, table, after)]


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
    parts = [
        rows.filter(wanted if where is None else wanted & where)
        for table in _both()
        for _, rows in store.scan(table, [*columns, SLICE], _since(store, table, after))
    ]
    return pa.concat_tables(parts) if parts else _nothing(columns)


def related(store: TableStore, columns: Sequence[str], ids: pa.Array, *, upto: int) -> pa.Table:
    """Some columns, ids among them, of the frames that have one of these ids or refer to one."""
    mentioned = pc.field("message_id").isin(ids) | pc.field("reply_to").isin(ids)
    parts = [
        rows.filter(mentioned & (pc.field(SLICE) <= upto))
        for table in _both()
        for _, rows in store.holding(table, [*columns, SLICE], MENTIONS, ids)
    ]
    return pa.concat_tables(parts) if parts else _nothing(columns)


def horizon_ms(store: TableStore, *, upto: int) -> int:
    """The latest capture up to a slice; 0 if there is none."""
    latest = 0
    for table in (frames(), quarantine()):
        for file in store.log.files(table.name):
            if file.last <= upto and file.latest is not None:
                latest = max(latest, int(file.latest.timestamp() * 1000))
            elif file.first <= upto:
                ((_, rows),) = store.scan(table, ["captured_at", SLICE], [file])
                last = pc.max(rows.filter(pc.field(SLICE) <= upto).column("captured_at"))
                latest = max(latest, last.value // 1000)
    return latest


def _nothing(columns: Sequence[str]) -> pa.Table:
    wanted = {name.partition(".")[0] for name in columns}
    fields = [field for field in frames().arrow if field.name in wanted]
    return pa.schema(fields).empty_table()


def _both() -> tuple[Table, Table]:
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
