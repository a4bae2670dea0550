"""What of a frame stays the same on its way, as a hash: one content, many sightings.

Relays lower a mesh frame's TTL and set its relay flag, brokers append debug chunks to a Cthun
message, and custodians change three keys of a bundle's header. Two frames of one content say
the same and are verified once; one message id with two contents is a conflict.
"""

import struct
from collections.abc import Callable, Iterable
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wireloom.protocols.cthun.constants import (
    CHUNK_HEADER_SIZE,
    TYPE_MASK,
    VERSION_SIZE,
    ChunkType,
)
from wireloom.protocols.dtn.constants import BUNDLE_PREFIX_SIZE, LENGTHS_SIZE
from wireloom.protocols.myriadmesh.header import FLAGS_AT, RELAY, TTL_AT
from wireloom.wire.batch import Selection

HASH_SIZE: Final = 16


def contents(name: str | None, raws: pa.BinaryArray, decoded: pa.RecordBatch) -> pa.StringArray:
    """The content of every frame; of one that is refused, the hash of its bytes."""
    parts = _PARTS.get(name or "", _whole)(raws, decoded)
    digests = b"".join([blake2b(part, digest_size=HASH_SIZE).digest() for part in parts])
    every = Selection(np.ones(len(raws), np.bool_))
    return every.fixed(np.frombuffer(digests, f"V{HASH_SIZE}"))


def _whole(raws: pa.BinaryArray, decoded: pa.RecordBatch) -> Iterable[bytes]:
    del decoded
    return list(raws.to_pylist())


def _mesh(raws: pa.BinaryArray, decoded: pa.RecordBatch) -> Iterable[memoryview]:
    """Each frame with its hop count and relay flag cleared, as when it was signed."""
    if not len(raws):
        return ()
    _, offsets, buffer = raws.buffers()
    bounds = np.frombuffer(offsets, np.int32)[raws.offset :][: len(raws) + 1]
    data = np.frombuffer(buffer or b"", np.uint8)[bounds[0] : bounds[-1]].copy()
    bounds = bounds - bounds[0]
    starts = bounds[:-1][~_refused(decoded)]
    data[starts + FLAGS_AT] &= 0xFF & ~RELAY
    data[starts + TTL_AT] = 0
    whole = data.data
    return (whole[begin:end] for begin, end in pairwise(bounds.tolist()))


def _bundles(raws: pa.BinaryArray, decoded: pa.RecordBatch) -> Iterable[bytes]:
    """A bundle's id covers all but its signature; a bare message has no id, nor has a refused."""
    ids = decoded.column("message_id").to_pylist()
    return [
        raw if id_ is None else id_.encode() + raw[LENGTHS_SIZE:BUNDLE_PREFIX_SIZE]
        for raw, id_ in zip(raws.to_pylist(), ids, strict=True)
    ]


def _chunks(raws: pa.BinaryArray, decoded: pa.RecordBatch) -> Iterable[bytes]:
    refused = _refused(decoded).tolist()
    return [
        raw if bad else b"\0".join(_said(raw))
        for raw, bad in zip(raws.to_pylist(), refused, strict=True)
    ]


def _said(raw: bytes) -> list[bytes]:
    """Envelope and data of a Cthun message that is known to be sound."""
    said = []
    begin = VERSION_SIZE
    while begin < len(raw):
        descriptor, size = _CHUNK.unpack_from(raw, begin)
        begin += CHUNK_HEADER_SIZE + size
        if descriptor & TYPE_MASK != _DEBUG:
            said.append(raw[begin - size : begin])
    return said


def _refused(decoded: pa.RecordBatch) -> npt.NDArray[Any]:
    refused: npt.NDArray[Any] = decoded.column("reason").is_valid().to_numpy(zero_copy_only=False)
    return refused


_CHUNK: Final = struct.Struct(">Bi")
_DEBUG: Final = int(ChunkType.DEBUG)
_Parts = Callable[[pa.BinaryArray, pa.RecordBatch], Iterable[bytes | memoryview]]
_PARTS: Final[dict[str, _Parts]] = {
    "cthun": _chunks,
    "dtn": _bundles,
    "myriadmesh": _mesh,
}
