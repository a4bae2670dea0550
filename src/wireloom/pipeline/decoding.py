"""A batch of captured frames, decoded: what the data source yields.

Rows keep their order. A frame that makes a decoder throw is found by bisection and refused
as `internal` with the last line of the traceback; it never costs its neighbours.
"""

import traceback
from enum import StrEnum
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wireloom import __version__
from wireloom.pipeline.contents import contents
from wireloom.registry import NAMES, Batches, Columns, every, protocol
from wireloom.wire.columns import DECODED
from wireloom.wire.outcome import Reason


class Kind(StrEnum):
    """Which table a row belongs to."""

    FRAMES = "frames"
    QUARANTINE = "quarantine"
    BATCHED = "batched"


@cache
def schema() -> pa.Schema:
    """The columns of a decoded row: the sighting, the common record, one struct a protocol."""
    fields = [
        pa.field("sighting", pa.string()),
        pa.field("captured_at", pa.timestamp("us", tz="UTC")),
        pa.field("node", pa.string()),
        pa.field("protocol", pa.string()),
        pa.field("link", pa.string()),
        pa.field("direction", pa.string()),
        pa.field("peer", pa.string()),
        pa.field("outcome", pa.string()),
        pa.field("outcome_reason", pa.string()),
        pa.field("swarm", pa.string()),
        pa.field("epoch_ms", pa.int64()),
        pa.field("size", pa.int64()),
        *DECODED,
        pa.field("content", pa.string()),
        pa.field("decoder", pa.string()),
        *[pa.field(one.name, one.columns.COLUMN.type) for one in every()],
        pa.field("raw", pa.binary()),
        pa.field("kind", pa.string()),
    ]
    return pa.schema(fields)


def decode_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of a capture segment's batch, decoded; then the frames within batched frames."""
    outer = _decode_rows(batch)
    inner = [
        _unpacked(one.name, one.batches, batch, outer) for one in every() if one.batches is not None
    ]
    found = [rows for rows in inner if rows is not None]
    if not found:
        return outer
    return pa.Table.from_batches([outer, *found]).combine_chunks().to_batches()[0]


def _decode_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Protocol by protocol; most batches are of one."""
    places = _places(batch.column("protocol"))
    if len(places) == 1:
        return _decoded(batch, *places)
    if not places:
        return pa.RecordBatch.from_pylist([], schema=schema())
    parts = [_decoded(batch.take(pa.array(chosen)), name) for name, chosen in places.items()]
    order = np.argsort(np.concatenate(list(places.values())), kind="stable")
    return pa.concat_batches(parts).take(pa.array(order))


def _places(protocols: pa.StringArray) -> dict[str | None, np.ndarray[Any, np.dtype[np.int64]]]:
    """Which rows are of which protocol; None are those of no known one."""
    # A stranger is not found in the list, and has no index.
    found = pc.fill_null(pc.index_in(protocols, value_set=pa.array(NAMES)), len(NAMES)).to_numpy()
    names = [*NAMES, None]
    return {names[index]: np.flatnonzero(found == index) for index in np.unique(found)}


def _decoded(rows: pa.RecordBatch, name: str | None) -> pa.RecordBatch:
    raws = rows.column("raw")
    decoded = _refused_all(len(raws)) if name is None else _bisected(protocol(name).columns, raws)
    known = {field.name: decoded.column(field.name) for field in decoded.schema}
    sequence = pc.cast(rows.column("sequence"), pa.string())
    refused = decoded.column("reason").is_valid()
    known |= {
        "kind": pc.if_else(refused, Kind.QUARANTINE.value, Kind.FRAMES.value),
        "sighting": pc.binary_join_element_wise(rows.column("node"), sequence, "#"),
        "outcome_reason": rows.column("reason"),
        "size": pc.cast(pc.binary_length(raws), pa.int64()),
        "content": contents(name, raws, decoded),
        "decoder": pa.repeat(__version__, len(raws)),
    }
    columns = []
    for field in schema():
        if field.name in known:
            columns.append(known[field.name])
        elif field.name in NAMES:
            columns.append(pa.nulls(len(raws), field.type))
        else:
            columns.append(rows.column(field.name))
    return pa.RecordBatch.from_arrays(columns, schema=schema())


def _unpacked(
    name: str, batches: Batches, batch: pa.RecordBatch, outer: pa.RecordBatch
) -> pa.RecordBatch | None:
    """A row for each frame within a protocol's batches, as if it had been seen by itself."""
    is_batch = pc.and_(
        pc.equal(outer.column("type"), batches.TYPE), pc.equal(outer.column("protocol"), name)
    )
    parents, raws, places = [], [], []
    for row in pc.indices_nonzero(is_batch).to_pylist():
        for place, raw in enumerate(batches.frames(batch.column("raw")[row].as_py())):
            parents.append(row)
            raws.append(raw)
            places.append(f"{outer.column('sighting')[row]}/{place}")
    if not parents:
        return None
    rows = batch.take(pa.array(parents))
    rows = rows.set_column(rows.schema.get_field_index("raw"), "raw", pa.array(raws, pa.binary()))
    decoded = _decoded(rows, name)
    for column, values in (("sighting", places), ("kind", [Kind.BATCHED.value] * len(places))):
        place = decoded.schema.get_field_index(column)
        decoded = decoded.set_column(place, decoded.schema.field(place), pa.array(values))
    return decoded


def _bisected(columns: Columns, raws: pa.BinaryArray) -> pa.RecordBatch:
    """Decodes with a protocol's `columns` module, whatever happens."""
    try:
        return columns.decode(raws)
    except Exception as error:
        if len(raws) == 1:
            detail = traceback.format_exception_only(error)[-1].strip()
            return _refusals(columns.COLUMN.schema, 1, Reason.INTERNAL.value, detail)
    half = len(raws) // 2
    halves = [_bisected(columns, raws.slice(0, half)), _bisected(columns, raws.slice(half))]
    return pa.Table.from_batches(halves).combine_chunks().to_batches()[0]


def _refused_all(count: int) -> pa.RecordBatch:
    detail = "the capture does not say which protocol it is, nor do the bytes"
    return _refusals(DECODED, count, Reason.MALFORMED.value, detail)


def _refusals(wanted: pa.Schema, count: int, reason: str, detail: str) -> pa.RecordBatch:
    said = {"reason": reason, "detail": detail}
    columns = [
        pa.repeat(said[field.name], count) if field.name in said else pa.nulls(count, field.type)
        for field in wanted
    ]
    return pa.RecordBatch.from_arrays(columns, schema=wanted)
