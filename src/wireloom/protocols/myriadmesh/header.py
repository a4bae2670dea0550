"""The 99 bytes that every frame begins with, and the rules that they must obey.

```
 0 magic 4 | 4 version 1 | 5 flags 1 | 6 message_type 1 | 7 priority 1 | 8 ttl 1
 9 payload_length 2 | 11 message_id 16 | 27 source_node_id 32 | 59 dest_node_id 32
91 timestamp 8 | 99 payload | then the signature, 64 bytes, if the flag says so
```
"""

from struct import Struct
from typing import Final, NamedTuple

from wireloom.protocols.myriadmesh.constants import (
    BROADCAST_ID,
    HEADER_SIZE,
    MAGIC,
    MAX_FRAME_SIZE,
    MESSAGE_ID_SIZE,
    NODE_ID_SIZE,
    RESERVED_ID,
    SIGNATURE_SIZE,
    VERSION,
    Flags,
)
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import (
    MalformedError,
    TooLargeError,
    TrailingBytesError,
    TruncatedError,
    TtlExceededError,
    UnsupportedVersionError,
)

ENCRYPTED: Final = int(Flags.ENCRYPTED)
"""Flags as plain integers: arithmetic with members of an enum is ten times slower."""

SIGNED: Final = int(Flags.SIGNED)
COMPRESSED: Final = int(Flags.COMPRESSED)
RELAY: Final = int(Flags.RELAY)
ACK: Final = int(Flags.ACK)
BROADCAST: Final = int(Flags.BROADCAST)
RESERVED: Final = int(Flags.RESERVED)

LAYOUT: Final = Struct(">4sBBBBBH16s32s32sQ")

VERSION_AT: Final = 4
FLAGS_AT: Final = 5
TYPE_AT: Final = 6
TTL_AT: Final = 8
LENGTH_AT: Final = 9
SOURCE_AT: Final = 27
DESTINATION_AT: Final = 59


class Header(NamedTuple):
    """The header's fields as they stand on the wire."""

    magic: bytes
    version: int
    flags: int
    message_type: int
    priority: int
    ttl: int
    payload_length: int
    message_id: bytes
    source_node_id: bytes
    dest_node_id: bytes
    timestamp: int


def read_header(raw: bytes) -> Header:
    """The header of a frame whose type and reserved flag do not matter, as a relay sees it.

    Raises:
        WireError: If `raw` is not a frame that may be carried on.
    """
    check_size(len(raw))
    header = take_header(Reader(raw))
    check_header(header, len(raw), lenient=True)
    return header


def take_header(reader: Reader) -> Header:
    """The fields, not yet checked."""
    return Header._make(reader.unpack(LAYOUT, Header._fields))


def put_header(writer: Writer, header: Header) -> None:
    """The mirror of `take_header`."""
    writer.put(header.magic, "magic")
    writer.u8(header.version, "version")
    writer.u8(header.flags, "flags")
    writer.u8(header.message_type, "message_type")
    writer.u8(header.priority, "priority")
    writer.u8(header.ttl, "ttl")
    writer.u16(header.payload_length, "payload_length")
    writer.put(header.message_id, "message_id", size=MESSAGE_ID_SIZE)
    writer.put(header.source_node_id, "source_node_id", size=NODE_ID_SIZE)
    writer.put(header.dest_node_id, "dest_node_id", size=NODE_ID_SIZE)
    writer.u64(header.timestamp, "timestamp")


def check_size(size: int) -> None:
    """Refuses a frame beyond the limit (R6)."""
    if size > MAX_FRAME_SIZE:
        raise TooLargeError(f"{size} bytes, a frame has at most {MAX_FRAME_SIZE}")


def check_header(header: Header, size: int, *, lenient: bool) -> None:
    """Refuses a header that breaks a rule, in either direction.

    Args:
        header: Its type is not looked at.
        size: How many bytes the frame has.
        lenient: Let the reserved flag pass (R22).

    Raises:
        WireError: With the rule that is broken.
    """
    if header.magic != MAGIC:
        raise MalformedError(f"begins with {header.magic.hex()}, not {MAGIC.hex()}", offset=0)
    if header.version != VERSION:
        raise UnsupportedVersionError(f"version {header.version}, not {VERSION}", offset=VERSION_AT)
    _check_length(header, size)
    if header.flags & RESERVED and not lenient:
        raise MalformedError("the reserved flag is set", offset=FLAGS_AT)
    if header.ttl == 0:
        raise TtlExceededError("no hop is left", offset=TTL_AT)
    _check_destination(header)


def framing_size(flags: int) -> int:
    """How many bytes a frame has besides its payload."""
    return HEADER_SIZE + (SIGNATURE_SIZE if flags & SIGNED else 0)


def _check_length(header: Header, size: int) -> None:
    expected = framing_size(header.flags) + header.payload_length
    if size < expected:
        raise TruncatedError(f"{size} bytes, the header says {expected}", offset=size)
    if size > expected:
        raise TrailingBytesError(f"{size} bytes, the header says {expected}", offset=expected)


def _check_destination(header: Header) -> None:
    """The rules R12 and R13."""
    if header.dest_node_id == RESERVED_ID:
        raise MalformedError("the destination is the reserved id", offset=DESTINATION_AT)
    broadcast = bool(header.flags & BROADCAST)
    if broadcast != (header.dest_node_id == BROADCAST_ID):
        raise MalformedError("broadcast flag and destination disagree", offset=FLAGS_AT)
    if broadcast and header.flags & ENCRYPTED:
        raise MalformedError("a broadcast cannot be encrypted", offset=FLAGS_AT)
