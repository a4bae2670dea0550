"""MyriadMesh frames and their bytes: header, payload, signature.

`decode` is the hot path of a relay. `ordinary` serves most DATA frames at once; for the others
one condition asks whether anything in the header is out of order, and `check_header` says what.

```
DATA_BATCH  count 2 | count × (length 2, frame)
```
"""

import re
from contextlib import suppress
from typing import Final

from wireloom.protocols.myriadmesh.bodies import PUT, TAKE, put_body, take_ack
from wireloom.protocols.myriadmesh.compression import Inflater, deflate
from wireloom.protocols.myriadmesh.constants import (
    BROADCAST_ID,
    HEADER_SIZE,
    MAGIC,
    MAX_FRAME_SIZE,
    RESERVED_ID,
    SIGNATURE_SIZE,
    VERSION,
    Flags,
    MessageType,
)
from wireloom.protocols.myriadmesh.header import (
    ACK,
    BROADCAST,
    COMPRESSED,
    ENCRYPTED,
    FLAGS_AT,
    LAYOUT,
    RESERVED,
    SIGNED,
    TYPE_AT,
    Header,
    check_header,
    check_size,
    framing_size,
    put_header,
)
from wireloom.protocols.myriadmesh.messages import Ack, DataBatch, Frame, Payload, Sealed
from wireloom.protocols.myriadmesh.ordinary import take_ordinary
from wireloom.wire.cursor import Reader, Span, TracingReader, Writer
from wireloom.wire.errors import MalformedError, UnknownTypeError, WireError
from wireloom.wire.message import Message, Unknown

_FLAGS: Final = tuple(Flags(bits) for bits in range(256))
_TYPES: Final = {int(member): member for member in MessageType}
_FRAMING: Final = tuple(framing_size(bits) for bits in range(256))
_SPECIAL_IDS: Final = frozenset((BROADCAST_ID, RESERVED_ID))
_ADDRESSED: Final = BROADCAST | RESERVED
"""Flags of which the header's rules have something to say."""

_WRAPPED: Final = ENCRYPTED | COMPRESSED | ACK
"""Flags that change how the payload is read."""

_BATCH: Final = int(MessageType.DATA_BATCH)
_INNER_FRAME: Final = re.compile(r"payload\.messages\.\d+")


def decode(raw: bytes, *, lenient: bool = False) -> Message:
    """The frame in `raw`, one datagram after reassembly.

    Args:
        raw: Any bytes.
        lenient: Give an `Unknown` for a type that is not known, here or in a batch, and keep
            the reserved flag, instead of refusing them (R22).

    Raises:
        WireError: If it is not a MyriadMesh frame.
    """
    ordinary = take_ordinary(raw)
    if ordinary is not None:
        return ordinary
    try:
        return take_frame(Reader(raw), lenient=lenient)
    except UnknownTypeError:
        if not lenient:
            raise
        return Unknown(type=f"0x{raw[TYPE_AT]:02x}", raw=raw)


def encode(message: Message) -> bytes:
    """The bytes of `message`.

    Raises:
        WireError: If `decode` would refuse them.
    """
    if not isinstance(message, Frame):
        raise UnknownTypeError(f"{type(message).__name__} is not a MyriadMesh frame")
    writer = Writer()
    put_frame(writer, message)
    return writer.finish()


def spans(raw: bytes) -> list[Span]:
    """Where each field of `raw` lies, up to the first fault."""
    return _traced(raw, None)


def take_frame(reader: Reader, *, lenient: bool = False, outer: Inflater | None = None) -> Frame:
    """One frame, which must be all that the reader holds.

    Args:
        reader: At the frame's first byte.
        lenient: Keep the reserved flag.
        outer: What the batch around the frame unpacks with, if there is one.
    """
    size = reader.end
    if size > MAX_FRAME_SIZE:
        check_size(size)
    fields = reader.unpack(LAYOUT, Header._fields)
    magic, version, bits, code, priority, ttl, length, message_id, source, dest, timestamp = fields
    if (
        magic != MAGIC
        or version != VERSION
        or ttl == 0
        or bits & _ADDRESSED
        or dest in _SPECIAL_IDS
        or size != _FRAMING[bits] + length
    ):
        check_header(Header._make(fields), size, lenient=lenient)
    reader.end = HEADER_SIZE + length
    take = TAKE.get(code)
    compressed = None
    if take is None or bits & _WRAPPED:
        payload, compressed = take_payload(reader, bits, code, lenient=lenient, outer=outer)
    else:
        payload = take(reader)
    reader.finish()
    reader.end = size
    return Frame(
        flags=_FLAGS[bits],
        message_type=_TYPES[code],
        priority=priority,
        ttl=ttl,
        message_id=message_id,
        source_node_id=source,
        dest_node_id=dest,
        timestamp=timestamp,
        payload=payload,
        signature=reader.take(SIGNATURE_SIZE, "signature") if bits & SIGNED else None,
        compressed=compressed,
    )


def put_frame(writer: Writer, frame: Frame, *, outer: Inflater | None = None) -> None:
    """The mirror of `take_frame`."""
    body = put_payload(frame, outer=outer)
    bits = int(frame.flags)
    size = framing_size(bits) + len(body)
    check_size(size)
    header = Header(
        magic=MAGIC,
        version=VERSION,
        flags=bits,
        message_type=frame.message_type,
        priority=frame.priority,
        ttl=frame.ttl,
        payload_length=len(body),
        message_id=frame.message_id,
        source_node_id=frame.source_node_id,
        dest_node_id=frame.dest_node_id,
        timestamp=frame.timestamp,
    )
    check_header(header, size, lenient=False)
    put_header(writer, header)
    writer.put(body, "payload")
    _put_signature(writer, frame)


def take_payload(
    reader: Reader, bits: int, code: int, *, lenient: bool, outer: Inflater | None = None
) -> tuple[Payload, bytes | None]:
    """The payload, and the zstd bytes that it was in, if it was.

    Args:
        reader: Ends where the payload ends.
        bits: The frame's flags.
        code: The frame's type.
        lenient: Keep the reserved flag in batched frames.
        outer: What the batch around the frame unpacks with, if there is one.
    """
    _check_kind(bits, code, batched=outer is not None)
    if bits & ENCRYPTED:
        return Sealed(ciphertext=reader.rest("payload.ciphertext")), None
    inflater = outer or Inflater()
    if not bits & COMPRESSED:
        return _take_plain(reader, bits, code, inflater, lenient=lenient), None
    offset = reader.offset
    compressed = reader.rest("compressed")
    try:
        unpacked = Reader(inflater.inflate(compressed))
        return _take_plain(unpacked, bits, code, inflater, lenient=lenient), compressed
    except WireError as error:
        # Offsets within the unpacked bytes mean nothing in the frame.
        raise type(error)(f"in the compressed payload: {error.detail}", offset=offset) from None


def put_payload(frame: Frame, *, outer: Inflater | None = None) -> bytes:
    """The mirror of `take_payload`."""
    bits = int(frame.flags)
    _check_kind(bits, frame.message_type, batched=outer is not None)
    _check_payload(frame)
    inflater = outer or Inflater()
    if isinstance(frame.payload, DataBatch):
        body = _put_batch(frame.payload, inflater)
    else:
        body = put_body(frame.payload)
    if not bits & COMPRESSED or bits & ENCRYPTED:
        return body
    if frame.compressed is None:
        inflater.spend(len(body))
        return deflate(body)
    if inflater.inflate(frame.compressed) != body:
        raise MalformedError("compressed does not unpack to the payload")
    return frame.compressed


def _take_plain(
    reader: Reader, bits: int, code: int, inflater: Inflater, *, lenient: bool
) -> Payload:
    payload: Payload
    if bits & ACK:
        payload = take_ack(reader)
    elif code == _BATCH:
        payload = _take_batch(reader, inflater, lenient=lenient)
    else:
        payload = TAKE[code](reader)
    reader.finish()
    return payload


def _take_batch(reader: Reader, inflater: Inflater, *, lenient: bool) -> DataBatch:
    messages = []
    for _ in range(reader.u16("payload.batch_count")):
        size = reader.u16("payload.messages[].length")
        base = reader.offset
        inner = Reader(reader.take(size, "payload.messages[]"))
        try:
            messages.append(take_frame(inner, lenient=lenient, outer=inflater))
        except WireError as error:
            raise error.shifted(base) from None
    return DataBatch(messages=tuple(messages))


def _put_batch(batch: DataBatch, inflater: Inflater) -> bytes:
    writer = Writer()
    writer.u16(len(batch.messages), "batch_count")
    for message in batch.messages:
        inner = Writer()
        put_frame(inner, message, outer=inflater)
        raw = inner.finish()
        writer.u16(len(raw), "length of a message")
        writer.put(raw, "message")
    return writer.finish()


def _put_signature(writer: Writer, frame: Frame) -> None:
    """The signature is there if and only if the flag is set (R4)."""
    if (frame.signature is not None) != bool(int(frame.flags) & SIGNED):
        raise MalformedError("signature and signed flag disagree")
    if frame.signature is not None:
        writer.put(frame.signature, "signature", size=SIGNATURE_SIZE)


def _check_kind(bits: int, code: int, *, batched: bool) -> None:
    if code not in _TYPES:
        raise UnknownTypeError(f"message type 0x{code:02x} is not known", offset=TYPE_AT)
    if bits & ACK and code != MessageType.CONTROL:
        raise MalformedError(f"{_TYPES[code].name} with the ACK flag", offset=FLAGS_AT)
    if batched and code == _BATCH:
        raise MalformedError("a batch within a batch", offset=TYPE_AT)


def _check_payload(frame: Frame) -> None:
    """Refuses a payload that `take_payload` would not have given for these flags and type."""
    payload, bits = frame.payload, int(frame.flags)
    encrypted = bool(bits & ENCRYPTED)
    if isinstance(payload, Sealed) != encrypted:
        raise MalformedError("an encrypted frame, and no other, has a Sealed payload")
    if frame.compressed is not None and (encrypted or not bits & COMPRESSED):
        raise MalformedError("compressed bytes in a frame that is not compressed, or sealed")
    if encrypted:
        return
    name = type(payload).__name__
    if type(payload) not in PUT and not isinstance(payload, DataBatch):
        raise MalformedError(f"{name} is not a payload")
    if payload.message_type != frame.message_type:
        raise MalformedError(f"{name} in a frame of type {frame.message_type.name}")
    if isinstance(payload, Ack) != bool(bits & ACK):
        raise MalformedError("a frame with the ACK flag, and no other, has an Ack payload")


def _traced(raw: bytes, outer: Inflater | None) -> list[Span]:
    reader = TracingReader(raw)
    with suppress(WireError):
        take_frame(reader, lenient=True, outer=outer)
    found: list[Span] = []
    inflater = Inflater()
    for span in reader.spans:
        inner: list[Span] = []
        if outer is None and _INNER_FRAME.fullmatch(span.name):
            content = Reader(raw, offset=span.offset).take(span.size, span.name)
            inner = _traced(content, inflater)
        found += [Span(f"{span.name}.{n}", span.offset + o, s) for n, o, s in inner] or [span]
    return found
