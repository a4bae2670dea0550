"""UEP-12 messages and their bytes, little-endian throughout (R3).

```
CONTENT       79 10 | version 1 | pow_nonce 8 | timestamp 6 | ttl_epoch 2 | count 3 bits, reserved 5
              | count × (msg_hash 8, epoch_diff 2) | payload
MESSAGE_LIST  79 11 | ticket 4 | start_time 6 | end_time 6 | count 1 | count × msg_hash 8
PULL_BY_HASH  79 20 | count 1 | count × msg_hash 8
PULL_BY_TIME  79 21 | ticket 4 | start_time 6 | end_time 6
```
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from wireloom.protocols.uep12.constants import (
    HASH_SIZE,
    INDICATOR,
    MAX_MESSAGE_SIZE,
    MAX_REFERENCES,
    REFERENCE_COUNT_BITS,
    TICKET_SIZE,
    VERSION,
    Opcode,
)
from wireloom.protocols.uep12.messages import (
    Content,
    MessageList,
    PullByHash,
    PullByTime,
    Reference,
    Uep12Message,
)
from wireloom.wire.cursor import Reader, Span, TracingReader, Writer
from wireloom.wire.errors import (
    MalformedError,
    TooLargeError,
    UnknownTypeError,
    UnsupportedVersionError,
    WireError,
)
from wireloom.wire.message import Message, Unknown

_COUNT_MASK: Final = (1 << REFERENCE_COUNT_BITS) - 1


def decode(raw: bytes, *, lenient: bool = False) -> Message:
    """The message in `raw`, one datagram after reassembly.

    Args:
        raw: Any bytes.
        lenient: Give an `Unknown` for an opcode that is not known, instead of refusing it.

    Raises:
        WireError: If it is not a UEP-12 message.
    """
    try:
        return take_message(Reader(raw, order="little"))
    except UnknownTypeError:
        if not lenient:
            raise
        return Unknown(type=f"0x{raw[1]:02x}", raw=raw)


def encode(message: Message) -> bytes:
    """The bytes of `message`.

    Raises:
        WireError: If `decode` would refuse them.
    """
    writer = Writer(order="little")
    put_message(writer, message)
    raw = writer.finish()
    _check_size(len(raw))
    return raw


def spans(raw: bytes) -> list[Span]:
    """Where each field of `raw` lies, up to the first fault."""
    reader = TracingReader(raw, order="little")
    with suppress(WireError):
        take_message(reader)
    return reader.spans


def take_message(reader: Reader) -> Uep12Message:
    """One message, which must be all that the reader holds."""
    _check_size(reader.end)
    indicator = reader.u8("indicator")
    if indicator != INDICATOR:
        raise MalformedError(f"first byte is 0x{indicator:02x}, not 0x79", offset=0)
    opcode = reader.u8("opcode")
    take = _TAKE.get(opcode)
    if take is None:
        raise UnknownTypeError(f"opcode 0x{opcode:02x} is not known", offset=1)
    message = take(reader)
    reader.finish()
    return message


def put_message(writer: Writer, message: Message) -> None:
    """The mirror of `take_message`."""
    put = _PUT.get(type(message))
    if put is None:
        raise UnknownTypeError(f"{type(message).__name__} is not a UEP-12 message")
    writer.u8(INDICATOR, "indicator")
    put(writer, message)


def take_content(reader: Reader) -> Content:
    """What follows the header of a CONTENT."""
    version = reader.u8("version")
    if version != VERSION:
        raise UnsupportedVersionError(f"version {version}, not {VERSION}", offset=2)
    pow_nonce = reader.u64("pow_nonce")
    timestamp = reader.u48("timestamp")
    ttl_epoch = reader.u16("ttl_epoch")
    offset = reader.offset
    count = reader.u8("msg_refer_count")
    if count & _COUNT_MASK > MAX_REFERENCES:
        raise MalformedError(
            f"{count & _COUNT_MASK} references, at most {MAX_REFERENCES} are allowed", offset=offset
        )
    return Content(
        pow_nonce=pow_nonce,
        timestamp=timestamp,
        ttl_epoch=ttl_epoch,
        references=tuple([take_reference(reader) for _ in range(count & _COUNT_MASK)]),
        reserved=count >> REFERENCE_COUNT_BITS,
        payload=reader.rest("payload"),
    )


def put_content(writer: Writer, message: Content) -> None:
    """The mirror of `take_content`."""
    if len(message.references) > MAX_REFERENCES:
        raise MalformedError(f"{len(message.references)} references, at most {MAX_REFERENCES}")
    writer.u8(Opcode.CONTENT, "opcode")
    writer.u8(VERSION, "version")
    writer.u64(message.pow_nonce, "pow_nonce")
    writer.u48(message.timestamp, "timestamp")
    writer.u16(message.ttl_epoch, "ttl_epoch")
    count = len(message.references) | message.reserved << REFERENCE_COUNT_BITS
    writer.u8(count, "msg_refer_count and reserved")
    for reference in message.references:
        put_reference(writer, reference)
    writer.put(message.payload, "payload")


def take_reference(reader: Reader) -> Reference:
    """One reference."""
    return Reference(
        msg_hash=reader.take(HASH_SIZE, "references[].msg_hash"),
        epoch_diff=reader.i16("references[].epoch_diff"),
    )


def put_reference(writer: Writer, reference: Reference) -> None:
    """The mirror of `take_reference`."""
    writer.put(reference.msg_hash, "msg_hash", size=HASH_SIZE)
    writer.i16(reference.epoch_diff, "epoch_diff")


def take_list(reader: Reader) -> MessageList:
    """What follows the header of a MESSAGE_LIST."""
    return MessageList(
        ticket=reader.take(TICKET_SIZE, "ticket"),
        start_time=reader.u48("start_time"),
        end_time=reader.u48("end_time"),
        msg_hashes=take_hashes(reader),
    )


def put_list(writer: Writer, message: MessageList) -> None:
    """The mirror of `take_list`."""
    writer.u8(Opcode.MESSAGE_LIST, "opcode")
    writer.put(message.ticket, "ticket", size=TICKET_SIZE)
    writer.u48(message.start_time, "start_time")
    writer.u48(message.end_time, "end_time")
    put_hashes(writer, message.msg_hashes)


def take_pull_by_hash(reader: Reader) -> PullByHash:
    """What follows the header of a PULL_BY_HASH."""
    return PullByHash(msg_hashes=take_hashes(reader))


def put_pull_by_hash(writer: Writer, message: PullByHash) -> None:
    """The mirror of `take_pull_by_hash`."""
    writer.u8(Opcode.PULL_BY_HASH, "opcode")
    put_hashes(writer, message.msg_hashes)


def take_pull_by_time(reader: Reader) -> PullByTime:
    """What follows the header of a PULL_BY_TIME."""
    return PullByTime(
        ticket=reader.take(TICKET_SIZE, "ticket"),
        start_time=reader.u48("start_time"),
        end_time=reader.u48("end_time"),
    )


def put_pull_by_time(writer: Writer, message: PullByTime) -> None:
    """The mirror of `take_pull_by_time`."""
    writer.u8(Opcode.PULL_BY_TIME, "opcode")
    writer.put(message.ticket, "ticket", size=TICKET_SIZE)
    writer.u48(message.start_time, "start_time")
    writer.u48(message.end_time, "end_time")


def take_hashes(reader: Reader) -> tuple[bytes, ...]:
    """A count and as many hashes."""
    count = reader.u8("count")
    return tuple([reader.take(HASH_SIZE, "msg_hashes[]") for _ in range(count)])


def put_hashes(writer: Writer, hashes: tuple[bytes, ...]) -> None:
    """The mirror of `take_hashes`."""
    writer.u8(len(hashes), "count")
    for msg_hash in hashes:
        writer.put(msg_hash, "msg_hash", size=HASH_SIZE)


def _check_size(size: int) -> None:
    if size > MAX_MESSAGE_SIZE:
        raise TooLargeError(f"{size} bytes, at most {MAX_MESSAGE_SIZE} can be carried")


_TAKE: Final[dict[int, Callable[[Reader], Uep12Message]]] = {
    Opcode.CONTENT: take_content,
    Opcode.MESSAGE_LIST: take_list,
    Opcode.PULL_BY_HASH: take_pull_by_hash,
    Opcode.PULL_BY_TIME: take_pull_by_time,
}

_PUT: Final[dict[type[Message], Callable[[Writer, Any], None]]] = {
    Content: put_content,
    MessageList: put_list,
    PullByHash: put_pull_by_hash,
    PullByTime: put_pull_by_time,
}
