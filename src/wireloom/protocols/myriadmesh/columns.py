"""MyriadMesh frames as Arrow columns, a whole batch at a time.

`survey` looks at all frames together, and each column is then made of the bytes of all frames
that have it. What is out of the ordinary (a fault, a batch, compression, lists of adapters,
results or entries) goes through the codec frame by frame and is put back in its place.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wireloom.protocols.myriadmesh import codec
from wireloom.protocols.myriadmesh.constants import (
    LOAD_SCALE,
    SIGNATURE_SIZE,
    Flags,
    MessageType,
)
from wireloom.protocols.myriadmesh.header import BROADCAST, SIGNED
from wireloom.protocols.myriadmesh.layouts import (
    BY_KIND,
    COLUMNS,
    NAMES,
    OPEN,
    Bytes,
    Code,
    Field,
    Load,
    Text,
)
from wireloom.protocols.myriadmesh.messages import TYPES, Ack, Error, Frame, Sealed
from wireloom.protocols.myriadmesh.record import hops, priority_rank, summarise
from wireloom.protocols.myriadmesh.survey import Members, Survey, places, survey
from wireloom.wire.batch import Array, Frames, NameLists, Selection, completed, with_shared
from wireloom.wire.columns import DECODED, MessageColumn, decode_each
from wireloom.wire.message import Cast

COLUMN: Final = MessageColumn(
    "myriadmesh", (Frame,), parts={"payload": (*TYPES.values(), Error, Ack, Sealed)}
)

_FIELDS: Final = tuple(field.name for field in COLUMN.type)
_PAYLOAD: Final = COLUMN.type.field("payload").type
_PAYLOAD_FIELDS: Final = tuple(field.name for field in _PAYLOAD)
_FROM_PAYLOAD: Final = {"payload", "compressed", "reply_to"}
_MAX_INT64: Final = (1 << 63) - 1
_SIGNATURE: Final = f"V{SIGNATURE_SIZE}"

_KNOWN_TYPES: Final = {int(member): member.name for member in MessageType}
_TYPE_NAMES: Final = pa.array([_KNOWN_TYPES.get(code) for code in range(256)], pa.string())
_CASTS: Final = pa.array([Cast.UNICAST, Cast.BROADCAST], pa.string())
_RANKS: Final = np.array([priority_rank(priority) for priority in range(256)], np.int32)
_HOPS: Final = np.array([hops(ttl) for ttl in range(256)], np.int64)
_FLAG_LISTS: Final = NameLists(
    [[str(flag.name).lower() for flag in Flags(bits)] for bits in range(256)]
)


def decode(raws: pa.BinaryArray) -> pa.RecordBatch:
    """A row for each frame, with the columns of `COLUMN.schema`."""
    seen = survey(Frames(raws))
    read = seen.kinds != 0
    odd = np.flatnonzero(~read)
    if not len(odd):
        return _batch(seen, Selection(read))
    theirs = decode_each(COLUMN, codec.decode, summarise, raws.take(pa.array(odd)).to_pylist())
    if len(odd) == len(raws):
        return theirs
    known = theirs.columns[-1].is_valid().to_numpy(zero_copy_only=False)
    read[odd] = known
    return completed(_batch(seen, Selection(read)), _without_headers(theirs, known), odd)


def _batch(seen: Survey, rows: Selection) -> pa.RecordBatch:
    """What the headers of these rows say, and the payloads of all that a layout fits."""
    own = _frame_columns(seen, rows)
    shared = _shared_columns(seen, rows, own)
    return with_shared(COLUMN, shared, rows.structs(COLUMN.type, (own[name] for name in _FIELDS)))


def _without_headers(theirs: pa.RecordBatch, known: Array) -> pa.RecordBatch:
    """What only the codec knows of frames: fewer columns to put in their places."""
    frames = theirs.columns[-1]
    shared = {
        field.name: column
        if field.name in _FROM_PAYLOAD
        else pc.if_else(known, pa.scalar(None, field.type), column)
        for field, column in zip(DECODED, theirs.columns, strict=False)
    }
    own = [
        frames.field(field.name)
        if field.name in _FROM_PAYLOAD
        else pa.nulls(len(frames), field.type)
        for field in COLUMN.type
    ]
    return with_shared(COLUMN, shared, Selection(known).structs(COLUMN.type, own))


def _shared_columns(seen: Survey, rows: Selection, own: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """The common record, as `summarise` gives it."""
    head = seen.head
    created = head["timestamp"].astype(np.uint64)
    broadcast = head["flags"] & BROADCAST != 0
    return {
        "type": own["message_type"],
        "message_id": own["message_id"],
        "source": own["source_node_id"],
        "destination": own["dest_node_id"],
        "cast": rows.names(_CASTS, broadcast.view(np.uint8)),
        "created_ms": Selection(rows.mask & (created <= _MAX_INT64)).numbers(created, pa.int64()),
        "priority_rank": rows.numbers(_RANKS.take(head["priority"]), pa.int32()),
        "hops": rows.numbers(_HOPS.take(head["ttl"]), pa.int64()),
        "reply_to": own["payload"].field("original_message_id"),
        "payload_size": own["payload_length"],
    }


def _frame_columns(seen: Survey, rows: Selection) -> dict[str, pa.Array]:
    """The fields of the frame."""
    head = seen.head
    return {
        "flags": _FLAG_LISTS.of(rows, np.ascontiguousarray(head["flags"])),
        "message_type": rows.names(_TYPE_NAMES, np.ascontiguousarray(head["type"])),
        "priority": rows.numbers(head["priority"], pa.int64()),
        "ttl": rows.numbers(head["ttl"], pa.int64()),
        "message_id": rows.fixed(rows.dense(head["message_id"])),
        "source_node_id": rows.fixed(rows.dense(head["source"])),
        "dest_node_id": rows.fixed(rows.dense(head["destination"])),
        "timestamp": rows.decimals(head["timestamp"]),
        "payload": _payload(seen, rows),
        "signature": _signature(seen, rows),
        "compressed": pa.nulls(rows.count, pa.string()),
        "version": rows.numbers(head["version"], pa.int64()),
        "payload_length": rows.numbers(head["length"], pa.int64()),
    }


def _signature(seen: Survey, rows: Selection) -> pa.Array:
    signed = Selection(rows.mask & (seen.head["flags"] & SIGNED != 0))
    ends = seen.frames.starts + seen.frames.sizes
    return signed.fixed(seen.frames.take(signed.dense(ends) - SIGNATURE_SIZE, _SIGNATURE))


def _payload(seen: Survey, rows: Selection) -> pa.StructArray:
    absent = pa.nulls(rows.count, _PAYLOAD)
    carriers: dict[tuple[int, ...], _Carriers] = {}
    children = []
    for place, name in enumerate(_PAYLOAD_FIELDS):
        fields = COLUMNS.get(name, {})
        kinds = tuple(kind for kind in fields if kind in seen.members)
        if not kinds:
            children.append(absent.field(place))
            continue
        if kinds not in carriers:
            carriers[kinds] = _Carriers(seen, kinds)
        children.append(carriers[kinds].column(fields))
    return rows.structs(_PAYLOAD, children)


class _Carriers:
    """The frames of some kinds, and the columns that they have in common."""

    def __init__(self, seen: Survey, kinds: tuple[int, ...]) -> None:
        self._frames = seen.frames
        self._members = {kind: seen.members[kind] for kind in kinds}
        rows = np.concatenate([one.rows for one in self._members.values()])
        self._order = np.argsort(rows, kind="stable") if len(kinds) > 1 else slice(None)
        mask = np.zeros(seen.frames.count, np.bool_)
        mask[rows] = True
        self._rows = Selection(mask)

    def column(self, fields: Mapping[int, Field]) -> pa.Array:
        """The values of the fields of one name."""
        rows, frames = self._rows, self._frames
        form = next(iter(fields.values()))
        if isinstance(form, Code):
            return rows.named(NAMES, self._gathered(fields, partial(_places, frames)))
        if isinstance(form, Bytes | Text):
            at, sizes = self._gathered(fields, _at), self._gathered(fields, _sizes)
            data = frames.slices(at, sizes)
            return rows.texts(sizes, data) if isinstance(form, Text) else rows.hexes(sizes, data)
        numbers = frames.take(self._gathered(fields, _at), f">u{form.size}")
        if isinstance(form, Load):
            return rows.numbers(rows.spread(numbers / LOAD_SCALE), pa.float64())
        return rows.numbers(rows.spread(numbers.astype(np.int64)), pa.int64())

    def _gathered(
        self, fields: Mapping[int, Field], part: Callable[[int, Members, Any], Array]
    ) -> Array:
        """Something of the fields of all kinds, in the order of the rows."""
        parts = [part(kind, found, fields[kind]) for kind, found in self._members.items()]
        return np.concatenate(parts)[self._order] if len(parts) > 1 else parts[0]


def _at(_kind: int, found: Members, field: Field) -> Array:
    """Where a field begins."""
    return found.bodies + field.at + (found.lengths if field.at < 0 else 0)


def _sizes(kind: int, found: Members, field: Field) -> Array:
    """How many bytes it has."""
    if field.size == OPEN:
        return found.lengths - BY_KIND[kind].fixed
    return np.full(len(found.rows), field.size)


def _places(frames: Frames, kind: int, found: Members, field: Code) -> Array:
    return places(frames, field, _at(kind, found, field))
