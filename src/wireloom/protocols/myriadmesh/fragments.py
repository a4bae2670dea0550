"""Frames in pieces, for adapters whose packets are short: LoRa above all.

```
fragment_id 2 | number 1, from 0 | total 1 | piece
```

A packet that begins as a frame does is a whole one. No fragment begins so, since `split`
does not take the fragment id that would make it (R28).
"""

from collections.abc import Hashable
from typing import Final, NamedTuple

from wireloom.protocols.myriadmesh.constants import (
    FRAGMENT_HEADER_SIZE,
    FRAGMENT_TIMEOUT_MS,
    LORA_MTU,
    MAGIC,
    MAX_FRAGMENTS,
    MAX_FRAME_SIZE,
)
from wireloom.wire.assembly import Assembler
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import MalformedError, TooLargeError

RESERVED_FRAGMENT_ID: Final = int.from_bytes(MAGIC[:2], "big")
"""A fragment with this id could begin as a frame does."""


class FragmentHeader(NamedTuple):
    """What stands before a piece."""

    fragment_id: int
    number: int
    total: int


def take_fragment_header(reader: Reader) -> FragmentHeader:
    """The four bytes before a piece.

    Raises:
        MalformedError: If there is no such piece.
    """
    header = FragmentHeader(reader.u16("fragment_id"), reader.u8("number"), reader.u8("total"))
    if header.number >= header.total:
        raise MalformedError(f"fragment {header.number} of {header.total}, from 0", offset=2)
    return header


def put_fragment_header(writer: Writer, header: FragmentHeader) -> None:
    """The mirror of `take_fragment_header`."""
    writer.u16(header.fragment_id, "fragment_id")
    writer.u8(header.number, "number")
    writer.u8(header.total, "total")


def capacity(mtu: int = LORA_MTU) -> int:
    """The longest frame that packets of `mtu` bytes can carry (R15)."""
    return min(MAX_FRAME_SIZE, MAX_FRAGMENTS * (mtu - FRAGMENT_HEADER_SIZE))


def split(raw: bytes, *, fragment_id: int, mtu: int = LORA_MTU) -> list[bytes]:
    """The packets that carry `raw`: itself if it fits in one, else fragments.

    Args:
        raw: A frame.
        fragment_id: Tells the fragments of one frame from those of the sender's others.
        mtu: The longest packet that the adapter takes.

    Raises:
        TooLargeError: If 255 fragments do not hold it.
        MalformedError: If the fragment id is the reserved one.
    """
    if len(raw) <= mtu:
        return [raw]
    if len(raw) > capacity(mtu):
        raise TooLargeError(f"{len(raw)} bytes, packets of {mtu} can carry {capacity(mtu)}")
    if fragment_id == RESERVED_FRAGMENT_ID:
        raise MalformedError(f"fragment id 0x{fragment_id:04x} would look like a frame")
    piece_size = mtu - FRAGMENT_HEADER_SIZE
    total = -(-len(raw) // piece_size)
    reader = Reader(raw)
    packets = []
    for number in range(total):
        writer = Writer()
        put_fragment_header(writer, FragmentHeader(fragment_id, number, total))
        writer.put(reader.take(min(piece_size, reader.remaining), "piece"), "piece")
        packets.append(writer.finish())
    return packets


class Reassembler:
    """Gives back what `split` took apart, from many peers at once.

    Args:
        mtu: The longest packet that the adapter takes.
    """

    def __init__(self, *, mtu: int = LORA_MTU) -> None:
        self._mtu = mtu
        self._assembler = Assembler(timeout_ms=FRAGMENT_TIMEOUT_MS, extend=False)

    def feed(self, peer: Hashable, packet: bytes, *, now_ms: int) -> bytes | None:
        """Takes one packet; gives a frame if it is one or completes one.

        Raises:
            TooLargeError: If packet or frame is longer than it can be.
            MalformedError: If it is a fragment that contradicts itself or others.
        """
        if len(packet) > self._mtu:
            raise TooLargeError(f"{len(packet)} bytes, the adapter takes {self._mtu}")
        if packet.startswith(MAGIC):
            return packet
        reader = Reader(packet)
        fragment_id, number, total = take_fragment_header(reader)
        piece = reader.rest("piece")
        if not piece:
            raise MalformedError(f"fragment {number} of {total} is empty", offset=reader.offset)
        key = (peer, fragment_id)
        whole = self._assembler.add(key, number, total, piece, now_ms=now_ms)
        if whole is not None and len(whole) > MAX_FRAME_SIZE:
            raise TooLargeError(f"{len(whole)} bytes, a frame has at most {MAX_FRAME_SIZE}")
        return whole
