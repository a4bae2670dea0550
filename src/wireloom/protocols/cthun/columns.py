"""Cthun frames as Arrow columns.

Every node that carries a message adds a debug chunk to it, so that the frames of one message
begin alike. In a batch such a beginning is read once.
"""

from typing import Final

import pyarrow as pa
from msgspec.structs import replace

from wireloom.protocols.cthun.chunks import take_chunk
from wireloom.protocols.cthun.codec import decode as decode_one
from wireloom.protocols.cthun.codec import take_debug
from wireloom.protocols.cthun.constants import (
    CHUNK_HEADER_SIZE,
    MAX_DEBUG_CHUNKS,
    MAX_MESSAGE_SIZE,
    ChunkType,
)
from wireloom.protocols.cthun.messages import (
    TYPES,
    BrokerData,
    DebugChunk,
    Envelope,
    Flags,
    Hop,
    Packet,
)
from wireloom.protocols.cthun.record import summarise
from wireloom.wire.columns import decode_distinct
from wireloom.wire.cursor import Reader
from wireloom.wire.errors import WireError
from wireloom.wire.extract import RowColumn, decode_all
from wireloom.wire.message import Message


class Row(Message, frozen=True, kw_only=True):
    """A frame as its column shows it."""

    envelope: Envelope
    """The envelope chunk."""

    envelope_flags: Flags
    """The reserved bits of its descriptor."""

    data: BrokerData | None
    """The data of the broker's own messages: the fields of all of them."""

    data_hex: bytes | None
    """The data of an application's message; null if it has no data chunk."""

    data_flags: Flags
    """The reserved bits of the data chunk's descriptor."""

    hops: tuple[Hop, ...]
    """The hops of all debug chunks, in order."""


def view(packet: Packet) -> Row:
    """A decoded frame as a row."""
    data = packet.data
    return Row(
        envelope=packet.envelope,
        envelope_flags=packet.envelope_flags,
        data=None if isinstance(data, bytes) else data,
        data_hex=data if isinstance(data, bytes) else None,
        data_flags=packet.data_flags,
        hops=packet.hops,
    )


COLUMN: Final = RowColumn("cthun", Row, view, parts={"data": tuple(TYPES.values())})


def decode(raws: pa.BinaryArray) -> pa.RecordBatch:
    """A row for each frame, with the columns of `COLUMN.schema`."""
    return decode_distinct(raws, _decode)


def _decode(raws: list[bytes]) -> pa.RecordBatch:
    return decode_all(COLUMN, _Reading().decode, summarise, raws)


class _Reading:
    """Decodes the frames of a batch, and remembers them for those that go on from them."""

    def __init__(self) -> None:
        self._known: dict[bytes, Packet] = {}

    def decode(self, raw: bytes) -> Packet:
        """What `codec.decode` gives, and the same refusals."""
        packet = self._continued(raw) or decode_one(raw)
        self._known[raw] = packet
        return packet

    def _continued(self, raw: bytes) -> Packet | None:
        """The message of a frame that is a known one with a debug chunk more."""
        start = raw.rfind(_NOTES) - CHUNK_HEADER_SIZE
        if start <= 0:
            return None
        reader = Reader(raw)
        packet = self._known.get(reader.take(start, "known"))
        if packet is None or len(raw) > MAX_MESSAGE_SIZE:
            return None
        debug = _last_debug(reader)
        if debug is None or len(packet.debug_chunks) == MAX_DEBUG_CHUNKS:
            return None
        return replace(packet, debug_chunks=(*packet.debug_chunks, debug))


def _last_debug(reader: Reader) -> DebugChunk | None:
    """The debug chunk that is all that is left, if it is one."""
    try:
        chunk = take_chunk(reader)
        if chunk.type is not ChunkType.DEBUG or reader.remaining:
            return None
        return take_debug(chunk, 0)
    except WireError:  # the codec says what is wrong with the frame, and where
        return None


_NOTES: Final = b'{"hops"'
"""How a debug chunk begins."""
