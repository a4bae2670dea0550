"""Cthun messages and their bytes.

```
01 | 01 size {"id":…,"message_type":…,"expires":…,"targets":[…],"sender":…}
   | 02 size data                    JSON for the broker's types, else the application's bytes
   | 03 size {"hops":[{"server":…,"stage":…,"time":…}]}                         any number
```

`chunks` reads the frame, `documents` the JSON in it; here they meet.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Final

from wireloom.protocols.cthun.chunks import Chunk, join, walk
from wireloom.protocols.cthun.constants import (
    CHUNK_HEADER_SIZE,
    VERSION_SIZE,
    ChunkType,
    MessageType,
)
from wireloom.protocols.cthun.documents import DATA, DEBUG, ENVELOPE, Notes
from wireloom.protocols.cthun.messages import (
    TYPES,
    AssociateRequest,
    BrokerData,
    DebugChunk,
    Envelope,
    Packet,
)
from wireloom.wire.cursor import Reader, Span
from wireloom.wire.errors import MalformedError, UnknownTypeError, WireError
from wireloom.wire.jsontext import check_nesting, members
from wireloom.wire.message import Message

_DATA: Final = ChunkType.DATA
_ASSOCIATE_REQUEST: Final = MessageType.ASSOCIATE_REQUEST.value
_MAX_MEMBERS: Final = 16
"""More than any document has; bounds what `spans` does for one that is none."""


def decode(raw: bytes, *, lenient: bool = False) -> Packet:
    """The message in `raw`, the content of one binary WebSocket frame.

    There is no unknown type in Cthun: what the broker does not know is an application's (R27).

    Args:
        raw: Any bytes.
        lenient: Keep up to four bytes after the last chunk instead of refusing them (R6).

    Raises:
        WireError: If it is not a Cthun message.
    """
    reader = Reader(raw)
    chunks = walk(reader)
    first = next(chunks)
    envelope = ENVELOPE.take(first.content, reader.offset - len(first.content))
    data: bytes | BrokerData | None = None
    data_flags = 0
    debug: list[DebugChunk] = []
    for chunk in chunks:
        base = reader.offset - len(chunk.content)
        if chunk.type is _DATA:
            data, data_flags = take_data(envelope, chunk.content, base), chunk.flags
        else:
            debug.append(take_debug(chunk, base))
    if data is None:
        check_data(envelope, data, data_flags)
    trailing = b""
    if lenient:
        trailing = reader.rest("trailing_bytes")
    reader.finish()
    return Packet(
        envelope=envelope,
        envelope_flags=first.flags,
        data=data,
        data_flags=data_flags,
        debug_chunks=tuple(debug),
        trailing_bytes=trailing,
    )


def encode(message: Message) -> bytes:
    """The bytes of `message`: envelope, data, debug (R4).

    Raises:
        WireError: If `decode` would refuse them.
    """
    if not isinstance(message, Packet):
        raise UnknownTypeError(f"{type(message).__name__} is not a Cthun packet")
    if message.trailing_bytes:
        raise MalformedError("bytes after the last chunk are not sent on")
    content = ENVELOPE.put(message.envelope)
    chunks = [Chunk(ChunkType.ENVELOPE, message.envelope_flags, content)]
    check_data(message.envelope, message.data, message.data_flags)
    if message.data is not None:
        content = put_data(message.envelope, message.data)
        chunks.append(Chunk(ChunkType.DATA, message.data_flags, content))
    chunks += [put_debug(debug) for debug in message.debug_chunks]
    return join(chunks)


def take_data(envelope: Envelope, content: bytes, base: int) -> bytes | BrokerData:
    """What a data chunk holds, which depends on the message type."""
    document = DATA.get(envelope.message_type)
    if document is not None:
        return document.take(content, base)
    if envelope.message_type != _ASSOCIATE_REQUEST:
        return content
    if content:
        raise MalformedError("an associate_request has no data", offset=base)
    return AssociateRequest()


def put_data(envelope: Envelope, data: bytes | BrokerData) -> bytes:
    """The mirror of `take_data`."""
    if isinstance(data, AssociateRequest):
        return b""
    return data if isinstance(data, bytes) else DATA[envelope.message_type].put(data)


def take_debug(chunk: Chunk, base: int) -> DebugChunk:
    """One debug chunk; no content at all is no note (R5)."""
    if not chunk.content:
        return DebugChunk(flags=chunk.flags)
    return DebugChunk(flags=chunk.flags, hops=DEBUG.take(chunk.content, base).hops)


def put_debug(debug: DebugChunk) -> Chunk:
    """The mirror of `take_debug`."""
    content = b"" if debug.hops is None else DEBUG.put(Notes(hops=debug.hops))
    return Chunk(ChunkType.DEBUG, debug.flags, content)


def check_data(envelope: Envelope, data: bytes | BrokerData | None, flags: int) -> None:
    """Refuses data of another kind than the message type's, or none where some is needed (R23).

    Raises:
        MalformedError: If it is so, or if a chunk that does not exist has flags.
    """
    type_ = envelope.message_type
    if data is None:
        if type_ in DATA:
            raise MalformedError(f"{type_} needs data")
        if flags:
            raise MalformedError(f"data_flags {flags}, and no data chunk to carry them")
    elif type(data) is not TYPES.get(type_, bytes):
        raise MalformedError(f"{type(data).__name__} is not the data of {type_!r:.80}")


def spans(raw: bytes) -> list[Span]:
    """Where each field of `raw` lies, up to the first fault.

    The descriptor of a chunk is shown as the flags in it.
    """
    return list(_spans(raw))


def _spans(raw: bytes) -> Iterator[Span]:
    if raw:
        yield Span("version", 0, VERSION_SIZE)
    with suppress(WireError):
        yield from _chunk_spans(raw)


def _chunk_spans(raw: bytes) -> Iterator[Span]:
    reader = Reader(raw)
    message_type = ""
    debug_count = 0
    for chunk in walk(reader):
        base = reader.offset - len(chunk.content)
        match chunk.type:
            case ChunkType.ENVELOPE:
                yield from _header_spans("envelope_", base)
                yield from _content_spans(chunk.content, base, "envelope")
                message_type = _message_type(chunk.content)
            case ChunkType.DATA:
                yield from _header_spans("data_", base)
                if message_type in DATA:
                    yield from _content_spans(chunk.content, base, "data")
                else:
                    yield Span("data", base, len(chunk.content))
            case _:
                prefix = f"debug_chunks.{debug_count}"
                yield from _header_spans(f"{prefix}.", base)
                yield from _content_spans(chunk.content, base, prefix)
                debug_count += 1
    if reader.remaining:
        yield Span("trailing_bytes", reader.offset, reader.remaining)


def _header_spans(prefix: str, base: int) -> Iterator[Span]:
    start = base - CHUNK_HEADER_SIZE
    yield Span(f"{prefix}flags", start, 1)
    yield Span(f"{prefix}size", start + 1, CHUNK_HEADER_SIZE - 1)


def _content_spans(content: bytes, base: int, name: str) -> Iterator[Span]:
    """The members of a document; the whole of it where it has none."""
    check_nesting(content)
    found = list(islice(members(content, base=base, prefix=f"{name}."), _MAX_MEMBERS))
    if not found:
        yield Span(name, base, len(content))
    for span in found:
        yield span._replace(name=span.name.replace("-", "_"))


def _message_type(content: bytes) -> str:
    try:
        return ENVELOPE.take(content).message_type
    except WireError:
        return ""
