"""All frames of a batch looked at together: headers, and which payloads a layout fits.

A frame that is out of the ordinary gets the kind 0. That says nothing against it: the codec
reads it, or says what is wrong with it.
"""

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wireloom.protocols.myriadmesh.constants import (
    HEADER_SIZE,
    MAGIC,
    MAX_FRAME_SIZE,
    MESSAGE_ID_SIZE,
    NODE_ID_SIZE,
    VERSION,
)
from wireloom.protocols.myriadmesh.header import BROADCAST, framing_size
from wireloom.protocols.myriadmesh.layouts import (
    BRANCHES,
    BY_KIND,
    KIND_OF,
    NO_NAME,
    PLACES,
    Code,
    Count,
    Layout,
    Text,
)
from wireloom.wire.batch import Array, Frames, offsets_of

_HEAD: Final = np.dtype(
    {
        "names": [
            "magic", "version", "flags", "type", "kind", "priority", "ttl", "length",
            "message_id", "source", "destination", "destination_begin", "timestamp",
        ],
        "formats": [
            ">u4", "u1", "u1", "u1", "<u2", "u1", "u1", ">u2",
            f"V{MESSAGE_ID_SIZE}", f"V{NODE_ID_SIZE}", f"V{NODE_ID_SIZE}", "u8", ">u8",
        ],
        "offsets": [0, 4, 5, 6, 5, 7, 8, 9, 11, 27, 59, 59, 91],
        "itemsize": HEADER_SIZE,
    }
)  # fmt: skip
"""The header as it stands on the wire (see `header`); besides, flags and type as the one number
that `KIND_OF` asks for, and the destination's first word."""

_MAGIC: Final = int.from_bytes(MAGIC)
_ONES: Final = (1 << 64) - 1
_FRAMING: Final = np.array([framing_size(bits) for bits in range(256)])


class Members(NamedTuple):
    """All frames of one kind in a batch."""

    rows: Array
    """Their places in the batch, in order."""

    bodies: Array
    """Where each payload begins."""

    lengths: Array
    """How many bytes each payload has."""


class Survey(NamedTuple):
    """What is known of all frames of a batch; nothing but the kind of those of kind 0."""

    frames: Frames

    head: Array
    """The header's fields."""

    kinds: Array
    """The number of each payload's layout, or 0."""

    members: dict[int, Members]
    """The frames of each kind that there is."""


def survey(frames: Frames) -> Survey:
    """Looks at all frames of a batch."""
    head, fits = _heads(frames)
    kinds = KIND_OF.take(head["kind"])
    kinds *= fits & _is_sound(head, frames.sizes)
    bodies = frames.starts + HEADER_SIZE
    lengths = head["length"].astype(np.int64)
    for kind, first_byte, other in BRANCHES:
        rows = np.flatnonzero((kinds == kind) & (lengths > 0))
        kinds[rows[frames.take(bodies[rows], "u1") == first_byte]] = other
    members = {}
    counts = np.bincount(kinds, minlength=len(BY_KIND) + 1)
    for kind, layout in BY_KIND.items():
        if counts[kind]:
            rows = np.flatnonzero(kinds == kind)
            found = Members(rows, bodies[rows], lengths[rows])
            members[kind] = _checked(frames, kinds, found, layout)
    there = {kind: found for kind, found in members.items() if len(found.rows)}
    return Survey(frames, head, kinds, there)


def places(frames: Frames, field: Code, at: Array) -> Array:
    """The places of codes in `NAMES`, or `NO_NAME`."""
    codes = frames.take(at, f">u{field.size}")
    return PLACES[field.enum].take(codes, mode="clip")


def _checked(frames: Frames, kinds: Array, found: Members, layout: Layout) -> Members:
    """The frames that the layout fits; all others become of kind 0."""
    spare = found.lengths - layout.fixed
    found = _kept(kinds, found, spare >= 0 if layout.open else spare == 0)
    for field in layout.fields:
        # Sizes were checked first: a field may be read only where there is one.
        if isinstance(field, Code | Count | Text):
            spare = found.lengths - layout.fixed
            found = _kept(kinds, found, _is_valid(frames, field, found.bodies + field.at, spare))
    return found


def _kept(kinds: Array, found: Members, valid: Array) -> Members:
    if valid.all():
        return found
    kinds[found.rows[~valid]] = 0
    return Members(found.rows[valid], found.bodies[valid], found.lengths[valid])


def _is_valid(frames: Frames, field: Code | Count | Text, at: Array, spare: Array) -> Array:
    valid: Array
    if isinstance(field, Code):
        valid = places(frames, field, at) != NO_NAME
    elif isinstance(field, Count):
        valid = frames.take(at, ">u2") == spare
    else:
        valid = _is_ascii(frames.slices(at, spare), spare)
    return valid


def _heads(frames: Frames) -> tuple[Array, Array]:
    """The header of each frame, and whether it is one."""
    fits = (frames.sizes >= HEADER_SIZE) & (frames.sizes <= MAX_FRAME_SIZE)
    if not fits.any():
        return np.zeros(frames.count, _HEAD), fits
    # Near the end there may be no room for a header: those frames get what lies before.
    at = np.minimum(frames.starts, frames.data.size - HEADER_SIZE)
    return frames.take(at, f"V{HEADER_SIZE}").view(_HEAD), fits


def _is_sound(head: Array, sizes: Array) -> Array:
    """Whether a header breaks no rule and its destination looks neither special nor wrong."""
    flags = head["flags"]
    begin = head["destination_begin"]
    broadcast = flags & BROADCAST != 0
    sound: Array = (
        (head["magic"] == _MAGIC)
        & (head["version"] == VERSION)
        & (head["ttl"] != 0)
        & (_FRAMING.take(flags) + head["length"] == sizes)
        & (((begin == 0) | (begin == _ONES)) == broadcast)
    )
    to_all = np.flatnonzero(broadcast)
    words = head["destination"][to_all].view(np.uint64).reshape(-1, NODE_ID_SIZE // 8)
    sound[to_all] &= (words == _ONES).all(axis=1)
    return sound


def _is_ascii(data: pa.Buffer, sizes: Array) -> Array:
    texts = pa.Array.from_buffers(pa.string(), len(sizes), [None, offsets_of(sizes), data])
    ascii_only: Array = pc.string_is_ascii(texts).to_numpy(zero_copy_only=False)
    return ascii_only
