"""The framing of Cthun: a version and a row of chunks, whose contents are not looked at.

```
message   version 1 | envelope chunk | [data chunk] | debug chunk …
chunk     flags 4 bits, type 4 bits | size 4, signed, big-endian | content
```

The envelope comes first and is alone of its kind. Data stands at most once. After the
envelope any order is read, and one is written: data, then debug (R4).
"""

import struct
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from msgspec import Struct

from wireloom.protocols.cthun.constants import (
    CHUNK_HEADER_SIZE,
    MAX_DEBUG_CHUNKS,
    MAX_FLAGS,
    MAX_MESSAGE_SIZE,
    TYPE_BITS,
    TYPE_MASK,
    VERSION,
    VERSION_SIZE,
    ChunkType,
)
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import MalformedError, TooLargeError, UnsupportedVersionError

_DEBUG: Final = ChunkType.DEBUG
_VERSION: Final = bytes([VERSION])
_HEADER: Final = struct.Struct(">Bi")
_HEADER_NAMES: Final = ("descriptor", "size")
_TYPES: Final = {int(member): member for member in ChunkType}
_AT_FIRST: Final = [0, 1, 0, 0]
"""How many chunks may come, by type: before the first one, an envelope and nothing else."""
_AFTER_ENVELOPE: Final = [0, 0, 1, MAX_DEBUG_CHUNKS]


class Chunk(Struct, frozen=True, gc=False):
    """One chunk of a message."""

    type: ChunkType
    flags: int
    """The reserved high bits of the descriptor, 0 to 15."""

    content: bytes


class Frame(NamedTuple):
    """A message taken apart."""

    chunks: list[Chunk]
    trailing: bytes
    """Bytes after the last chunk, which only lenient splitting leaves."""


def split(raw: bytes, *, lenient: bool = False) -> Frame:
    """The chunks of a message.

    Args:
        raw: Any bytes.
        lenient: Keep up to four bytes after the last chunk instead of refusing them (R6).

    Raises:
        WireError: If the chunks do not fill `raw`, or break the rules of their order.
    """
    reader = Reader(raw)
    chunks = list(walk(reader))
    if not lenient:
        reader.finish()
    return Frame(chunks, reader.rest("trailing_bytes"))


def join(chunks: Iterable[Chunk]) -> bytes:
    """The message made of `chunks`: the mirror of a strict `split`.

    Raises:
        WireError: If `split` would refuse it.
    """
    writer = Writer()
    writer.u8(VERSION, "version")
    size = VERSION_SIZE
    room = _AT_FIRST
    for chunk in chunks:
        room = _admit(room, chunk.type)
        size += CHUNK_HEADER_SIZE + len(chunk.content)
        _check_size(size)
        put_chunk(writer, chunk)
    if room is _AT_FIRST:
        raise MalformedError("there is no envelope")
    return writer.finish()


def walk(reader: Reader) -> Iterator[Chunk]:
    """The chunks one by one, until what is left is too short to be one.

    Raises:
        WireError: At the first fault.
    """
    _check_size(reader.end)
    take_version(reader)
    room = _AT_FIRST
    while reader.end - reader.offset >= CHUNK_HEADER_SIZE:
        offset = reader.offset
        chunk = take_chunk(reader)
        room = _admit(room, chunk.type, offset)
        yield chunk
    if room is _AT_FIRST:
        raise MalformedError("there is no envelope", offset=reader.offset)


def take_version(reader: Reader) -> None:
    """The version, which must be the one that is spoken."""
    version = reader.take(VERSION_SIZE, "version")
    if version != _VERSION:
        raise UnsupportedVersionError(f"version {version[0]}, not {VERSION}", offset=0)


def take_chunk(reader: Reader) -> Chunk:
    """The next chunk."""
    offset = reader.offset
    descriptor, size = reader.unpack(_HEADER, _HEADER_NAMES)
    type_ = _TYPES.get(descriptor & TYPE_MASK)
    if type_ is None:
        raise MalformedError(
            f"descriptor 0x{descriptor:02x} is of no known chunk type", offset=offset
        )
    if size < 0:
        raise MalformedError(f"chunk size {size} is negative", offset=offset + 1)
    return Chunk(type_, descriptor >> TYPE_BITS, reader.take(size, "content"))


def put_chunk(writer: Writer, chunk: Chunk) -> None:
    """The mirror of `take_chunk`."""
    if type(chunk.flags) is not int or not 0 <= chunk.flags <= MAX_FLAGS:
        raise MalformedError(f"flags {chunk.flags} do not fit in {TYPE_BITS} bits")
    writer.u8(chunk.flags << TYPE_BITS | chunk.type, "descriptor")
    writer.i32(len(chunk.content), "size")
    writer.put(chunk.content, "content")


def _admit(room: list[int], type_: ChunkType, offset: int | None = None) -> list[int]:
    """Takes one chunk into account: the room for chunks of each type that is left after it."""
    if not room[type_]:
        if room is _AT_FIRST:
            raise MalformedError("the first chunk is not the envelope", offset=offset)
        if type_ is _DEBUG:
            raise TooLargeError(f"more than {MAX_DEBUG_CHUNKS} debug chunks", offset=offset)
        raise MalformedError(f"there is a second {type_.name.lower()} chunk", offset=offset)
    if room is _AT_FIRST:
        return _AFTER_ENVELOPE.copy()
    room[type_] -= 1
    return room


def _check_size(size: int) -> None:
    if size > MAX_MESSAGE_SIZE:
        raise TooLargeError(f"{size} bytes, a message has at most {MAX_MESSAGE_SIZE}")
