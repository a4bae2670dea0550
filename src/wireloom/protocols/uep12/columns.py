"""UEP-12 messages as Arrow columns, a whole batch at a time.

All four messages have fixed layouts (see `codec`), so each column is made of the bytes of all
messages that have it. Those with a fault go through the codec one by one and are put back in
their places. The hash that is a message's id is made once for each distinct message: most are
seen at several nodes, and hashing takes longer than all the rest.
"""

from hashlib import sha256
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from wireloom.protocols.uep12 import codec
from wireloom.protocols.uep12.constants import (
    DEFAULT_EPOCH_MS,
    HASH_SIZE,
    INDICATOR,
    MAX_MESSAGE_SIZE,
    MAX_REFERENCES,
    REFERENCE_COUNT_BITS,
    TICKET_SIZE,
    VERSION,
    Opcode,
)
from wireloom.protocols.uep12.messages import TYPES
from wireloom.protocols.uep12.record import summarise
from wireloom.wire.batch import Array, Frames, Selection, completed, with_shared
from wireloom.wire.columns import MessageColumn, decode_each
from wireloom.wire.message import Cast

COLUMN: Final = MessageColumn("uep12", TYPES.values())

_OPCODES: Final = tuple(Opcode)
_KINDS: Final = np.zeros(256, np.uint8)
"""By opcode: 1 to 4, in the order of `Opcode`; 0 for those that are none."""
_KINDS[list(_OPCODES)] = np.arange(1, len(_OPCODES) + 1)

_CONTENT, _LIST, _PULL_BY_HASH, _PULL_BY_TIME = range(1, len(_OPCODES) + 1)
_NAMES: Final = pa.array([None, *(opcode.name for opcode in _OPCODES)], pa.string())
_CASTS: Final = pa.array([None, Cast.BROADCAST, *[Cast.UNICAST] * 3], pa.string())

_FIXED_SIZE: Final = np.array([0, 20, 19, 3, 18])
"""Bytes besides references, hashes and payload, by kind."""

_COUNT_AT: Final = np.array([0, 19, 18, 2, 0])
"""Where the number of items stands, by kind; a PULL_BY_TIME has none."""

_COUNT_MASK: Final = np.array([0, (1 << REFERENCE_COUNT_BITS) - 1, 255, 255, 0], np.uint8)

_ITEM_SIZE: Final = np.array([0, HASH_SIZE + 2, HASH_SIZE, HASH_SIZE, 0])
"""Bytes of a reference or of a hash, by kind."""

_VERSION_AT: Final = 2
_NONCE_AT: Final = 3
_TIMESTAMP_AT: Final = 11
_TTL_AT: Final = 17
_TICKET_AT: Final = 2
_START_AT: Final = 6
_END_AT: Final = 12

_FIELDS: Final = tuple(field.name for field in COLUMN.type)
_REFERENCE: Final = COLUMN.type.field("references").type.value_type


class _Seen(NamedTuple):
    """All messages of a batch; nothing is said of one of kind 0 but that the codec reads it."""

    frames: Frames
    kinds: Array
    counts: Array
    """How many references or hashes each has."""

    def rows(self, *kinds: int) -> Selection:
        """The messages of some kinds."""
        return Selection(np.logical_or.reduce([self.kinds == kind for kind in kinds]))


def decode(raws: pa.BinaryArray) -> pa.RecordBatch:
    """A row for each message, with the columns of `COLUMN.schema`."""
    seen = _seen(Frames(raws))
    odd = np.flatnonzero(seen.kinds == 0)
    if not len(odd):
        return _batch(seen, raws)
    theirs = decode_each(COLUMN, codec.decode, summarise, raws.take(pa.array(odd)).to_pylist())
    return theirs if len(odd) == len(raws) else completed(_batch(seen, raws), theirs, odd)


def _seen(frames: Frames) -> _Seen:
    kinds = np.zeros(frames.count, np.uint8)
    counts = np.zeros(frames.count, np.int64)
    fits = (frames.sizes >= _FIXED_SIZE[1:].min()) & (frames.sizes <= MAX_MESSAGE_SIZE)
    rows = np.flatnonzero(fits)
    starts, sizes = frames.starts[rows], frames.sizes[rows]
    kind = _KINDS.take(frames.take(starts + 1, "u1"))
    kind[(frames.take(starts, "u1") != INDICATOR) | (sizes < _FIXED_SIZE.take(kind))] = 0
    count = frames.take(starts + _COUNT_AT.take(kind), "u1") & _COUNT_MASK.take(kind)
    spare = sizes - _FIXED_SIZE.take(kind) - count * _ITEM_SIZE.take(kind)
    content = kind == _CONTENT
    versions = frames.take(starts + _VERSION_AT, "u1")
    kind[content & ((versions != VERSION) | (count > MAX_REFERENCES))] = 0
    kind[(spare < 0) | (spare > 0) & ~content] = 0
    kinds[rows], counts[rows] = kind, count
    return _Seen(frames, kinds, counts)


def _batch(seen: _Seen, raws: pa.BinaryArray) -> pa.RecordBatch:
    rows = Selection(seen.kinds != 0)
    contents, expires, payload_size = _contents(seen)
    own = {**contents, **_answers_and_pulls(seen)}
    shared = {
        "type": rows.names(_NAMES, seen.kinds),
        "message_id": _ids(rows, raws),
        "cast": rows.names(_CASTS, seen.kinds),
        "created_ms": own["timestamp"],
        "expires_ms": expires,
        "payload_size": payload_size,
    }
    return with_shared(COLUMN, shared, rows.structs(COLUMN.type, (own[name] for name in _FIELDS)))


def _ids(rows: Selection, raws: pa.BinaryArray) -> pa.Array:
    """The first bytes of each message's SHA-256 (R9), as `integrity.msg_hash` gives them."""
    encoded = raws.dictionary_encode()
    digests = b"".join([sha256(raw).digest() for raw in encoded.dictionary.to_pylist()])
    hashes = np.frombuffer(digests, f"V{HASH_SIZE}")[:: sha256().digest_size // HASH_SIZE]
    every = Selection(np.ones(len(hashes), np.bool_))
    return rows.names(every.fixed(hashes), encoded.indices)


def _contents(seen: _Seen) -> tuple[dict[str, pa.Array], pa.Array, pa.Array]:
    """The columns that only a CONTENT has; when it expires; how large its payload is."""
    frames, rows = seen.frames, seen.rows(_CONTENT)
    starts, counts = rows.dense(frames.starts), rows.dense(seen.counts)
    timestamp = _millis(frames, starts + _TIMESTAMP_AT)
    ttl_epoch = frames.take(starts + _TTL_AT, "<u2").astype(np.int64)
    reserved = frames.take(starts + _COUNT_AT[_CONTENT], "u1") >> REFERENCE_COUNT_BITS
    references = _FIXED_SIZE[_CONTENT] + starts
    payloads = references + counts * _ITEM_SIZE[_CONTENT]
    sizes = starts + rows.dense(frames.sizes) - payloads
    own = {
        "pow_nonce": rows.decimals(rows.spread(frames.take(starts + _NONCE_AT, "<u8"))),
        "timestamp": _numbers(rows, timestamp),
        "ttl_epoch": _numbers(rows, ttl_epoch),
        "references": rows.lists(counts, _references(frames, references, counts)),
        "reserved": _numbers(rows, reserved),
        "payload": rows.hexes(sizes, frames.slices(payloads, sizes)),
        "version": _numbers(rows, np.full(len(starts), VERSION)),
        "msg_refer_count": _numbers(rows, counts),
    }
    expires = timestamp + np.maximum(1, ttl_epoch) * DEFAULT_EPOCH_MS
    return own, _numbers(rows, expires), _numbers(rows, sizes)


def _answers_and_pulls(seen: _Seen) -> dict[str, pa.Array]:
    """The columns of all messages but a CONTENT."""
    frames = seen.frames
    timed, listing = seen.rows(_LIST, _PULL_BY_TIME), seen.rows(_LIST, _PULL_BY_HASH)
    starts = timed.dense(frames.starts)
    counts = listing.dense(seen.counts)
    first = listing.dense(frames.starts) + _FIXED_SIZE.take(listing.dense(seen.kinds))
    return {
        "ticket": timed.fixed(frames.take(starts + _TICKET_AT, f"V{TICKET_SIZE}")),
        "start_time": _numbers(timed, _millis(frames, starts + _START_AT)),
        "end_time": _numbers(timed, _millis(frames, starts + _END_AT)),
        "msg_hashes": listing.lists(counts, _hashes(frames, _items(first, counts, HASH_SIZE))),
        "count": _numbers(listing, counts),
    }


def _references(frames: Frames, first: Array, counts: Array) -> pa.StructArray:
    at = _items(first, counts, int(_ITEM_SIZE[_CONTENT]))
    every = Selection(np.ones(len(at), np.bool_))
    diffs = every.numbers(frames.take(at + HASH_SIZE, "<i2"), pa.int64())
    return every.structs(_REFERENCE, (_hashes(frames, at), diffs))


def _hashes(frames: Frames, at: Array) -> pa.StringArray:
    return Selection(np.ones(len(at), np.bool_)).fixed(frames.take(at, f"V{HASH_SIZE}"))


def _items(first: Array, counts: Array, size: int) -> Array:
    """Where all items of all lists begin, if each list begins at `first`."""
    ends = np.cumsum(counts)
    before = np.repeat(ends - counts, counts)
    at: Array = np.repeat(first, counts) + (np.arange(len(before)) - before) * size
    return at


def _millis(frames: Frames, at: Array) -> Array:
    """Six bytes: the last six of the eight that end where they end."""
    return (frames.take(at - 2, "<u8") >> 16).astype(np.int64)


def _numbers(rows: Selection, dense: Array) -> pa.Array:
    return rows.numbers(rows.spread(dense), pa.int64())
