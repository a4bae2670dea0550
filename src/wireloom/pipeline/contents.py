"""What of a frame stays the same on its way, as a hash: one content, many sightings.

Relays lower a mesh frame's TTL and set its relay flag, brokers append debug chunks to a Cthun
message, and custodians change three keys of a bundle's header. Two frames of one content say
the same and are verified once; one message id with two contents is a conflict.
"""

from collections.abc import Callable
from hashlib import blake2b
from typing import Final

import pyarrow as pa

from wireloom.protocols.cthun.chunks import split
from wireloom.protocols.cthun.constants import ChunkType
from wireloom.protocols.myriadmesh.header import FLAGS_AT, RELAY, TTL_AT, TYPE_AT
from wireloom.wire.cursor import Reader
from wireloom.wire.keys import SIGNATURE_SIZE

HASH_SIZE: Final = 16

_UNRELAYED: Final = [bytes([bits & ~RELAY]) for bits in range(256)]


def contents(name: str | None, raws: pa.BinaryArray, decoded: pa.RecordBatch) -> pa.StringArray:
    """The content of every frame; of one that is refused, the hash of its bytes."""
    fixed = _FIXED.get(name or "", _whole)
    refused = decoded.column("reason").is_valid().to_pylist()
    ids = decoded.column("message_id").to_pylist()
    known: dict[bytes, str] = {}
    for raw, bad, id_ in zip(raws.to_pylist(), refused, ids, strict=True):
        if raw not in known:
            part = raw if bad else fixed(raw, id_)
            known[raw] = blake2b(part, digest_size=HASH_SIZE).hexdigest()
    return pa.array([known[raw] for raw in raws.to_pylist()], pa.string())


def _whole(raw: bytes, id_: str | None) -> bytes:
    del id_
    return raw


def _mesh(raw: bytes, id_: str | None) -> bytes:
    """The frame with its hop count and relay flag cleared, as when it was signed."""
    del id_
    return b"".join(
        (raw[:FLAGS_AT], _UNRELAYED[raw[FLAGS_AT]], raw[TYPE_AT:TTL_AT], raw[TTL_AT + 1 :])
    )


def _bundle(raw: bytes, id_: str | None) -> bytes:
    """A bundle's id covers all but its signature; a bare message has no id."""
    if id_ is None:
        return raw
    return id_.encode() + Reader(raw, offset=8).take(SIGNATURE_SIZE, "signature")


def _chunks(raw: bytes, id_: str | None) -> bytes:
    del id_
    chunks = split(raw, lenient=True).chunks
    return b"\0".join(chunk.content for chunk in chunks if chunk.type is not ChunkType.DEBUG)


_FIXED: Final[dict[str, Callable[[bytes, str | None], bytes]]] = {
    "cthun": _chunks,
    "dtn": _bundle,
    "myriadmesh": _mesh,
}
