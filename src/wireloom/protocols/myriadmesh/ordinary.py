"""The frames that a mesh mostly carries, decoded in one step.

A DATA frame that is neither sealed, packed nor broadcast is one unpacking: header, content
type, data and signature together. Whatever is out of the ordinary, be it another type, a
flag or a fault, is left to the codec, which knows all cases and says what is wrong.
"""

from functools import lru_cache
from struct import Struct
from typing import Final

from wireloom.protocols.myriadmesh.constants import (
    BROADCAST_ID,
    HEADER_SIZE,
    MAGIC,
    MAX_FRAME_SIZE,
    RESERVED_ID,
    SIGNATURE_SIZE,
    VERSION,
    ContentType,
    Flags,
    MessageType,
)
from wireloom.protocols.myriadmesh.header import FLAGS_AT, LAYOUT, TYPE_AT
from wireloom.protocols.myriadmesh.messages import Data, Frame

_FRAME_TYPE: Final = MessageType.DATA
_DATA: Final = int(MessageType.DATA)
_ORDINARY: Final = Flags.SIGNED | Flags.RELAY | Flags.ACK_REQUIRED
_FRAMING: Final = {
    bits: (Flags(bits), SIGNATURE_SIZE if bits & Flags.SIGNED else 0)
    for bits in range(256)
    if not bits & ~_ORDINARY
}
"""Flags of ordinary frames, and the size of the signature that they promise."""

_CONTENT_TYPES: Final = {int(member): member for member in ContentType}
_SPECIAL_IDS: Final = frozenset((BROADCAST_ID, RESERVED_ID))
_CONTENT_TYPE_SIZE: Final = 1
_MAX_LAYOUTS: Final = 1024


def take_ordinary(raw: bytes) -> Frame | None:
    """The frame in `raw` if it is an ordinary DATA frame without a fault, else None."""
    size = len(raw)
    if not HEADER_SIZE < size <= MAX_FRAME_SIZE or raw[TYPE_AT] != _DATA:
        return None
    framing = _FRAMING.get(raw[FLAGS_AT])
    if framing is None:
        return None
    flags, signature_size = framing
    payload_size = size - HEADER_SIZE - signature_size
    if payload_size < _CONTENT_TYPE_SIZE:
        return None
    (magic, version, _, _, priority, ttl, length, message_id, source, dest, timestamp, code, data,
     signature) = _layout(payload_size, signature_size).unpack(raw)  # fmt: skip
    content_type = _CONTENT_TYPES.get(code)
    if (
        magic != MAGIC
        or version != VERSION
        or ttl == 0
        or length != payload_size
        or dest in _SPECIAL_IDS
        or content_type is None
    ):
        return None
    return Frame(
        flags=flags,
        message_type=_FRAME_TYPE,
        priority=priority,
        ttl=ttl,
        message_id=message_id,
        source_node_id=source,
        dest_node_id=dest,
        timestamp=timestamp,
        payload=Data(content_type=content_type, data=data),
        signature=signature or None,
    )


@lru_cache(_MAX_LAYOUTS)
def _layout(payload_size: int, signature_size: int) -> Struct:
    """The whole of a DATA frame with a payload and a signature of these sizes."""
    return Struct(f"{LAYOUT.format}B{payload_size - _CONTENT_TYPE_SIZE}s{signature_size}s")
