"""What of a Cthun message does not change on its way: envelope and data.

Every broker that carries a message appends a debug chunk to it.
"""

import struct
from collections.abc import Iterable
from typing import Final

import pyarrow as pa

from wireloom.protocols.cthun.constants import (
    CHUNK_HEADER_SIZE,
    TYPE_MASK,
    VERSION_SIZE,
    ChunkType,
)
from wireloom.wire.content import refused

_CHUNK: Final = struct.Struct(">Bi")
_DEBUG: Final = int(ChunkType.DEBUG)


def unchanging(raws: pa.BinaryArray, decoded: pa.RecordBatch) -> Iterable[bytes]:
    """Envelope and data of each message; a frame that is refused as it is.

    Args:
        raws: The frames, none of them null.
        decoded: What `columns.decode` gave for them.
    """
    bad = refused(decoded).tolist()
    return [
        raw if is_bad else b"\0".join(_without_debug(raw))
        for raw, is_bad in zip(raws.to_pylist(), bad, strict=True)
    ]


def _without_debug(raw: bytes) -> list[bytes]:
    """The other chunks' contents, of a message that is known to decode.

    `chunks.walk` reads the same and checks it once more, which takes several times as long.
    """
    contents = []
    begin = VERSION_SIZE
    while begin < len(raw):
        descriptor, size = _CHUNK.unpack_from(raw, begin)
        begin += CHUNK_HEADER_SIZE + size
        if descriptor & TYPE_MASK != _DEBUG:
            contents.append(raw[begin - size : begin])
    return contents
