"""The two encodings that a hub answers in, and frames that differ in id and recipient only.

A message to a thousand subscribers is the same for all of them but for its `id` and `to`. The
rest is written once, as a `Letter`; each recipient costs one splice.

```
head   {"id":"4f0c…-          mid   ","from":"@(a/b)","to":        tail   ,"pattern":"tell",…}
             number ^ 12 hex digits                     address ^
```
"""

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple

import msgspec

_FRAME: Final = b"%b%012x%b%b%b"
"""Head, number, mid, address, tail."""

NUMBER_SIZE: Final = 12
_LAST_DIGITS: Final = [b"%03x" % number for number in range(1 << 12)]
_join: Final = b"".join

_FIELD_COUNT: Final = 11
_SMALL_MAP: Final = 0x80
_TEXT_36: Final = b"\xd9\x24"


class Letter(NamedTuple):
    """What all recipients of a message get alike."""

    head: bytes
    mid: bytes
    tail: bytes

    @property
    def size(self) -> int:
        """Bytes of a frame, but for the address."""
        return len(self.head) + NUMBER_SIZE + len(self.mid) + len(self.tail)

    def to(self, address: bytes, number: int) -> bytes:
        """The frame for one recipient."""
        return _FRAME % (self.head, number, self.mid, address, self.tail)

    def to_each(self, addresses: Sequence[bytes], first: int) -> list[bytes]:
        """The frames for many recipients, numbered from `first` on.

        They are joined, not formatted, which takes a third of the time: of their numbers only
        the last digits differ, and those are written already.
        """
        frames: list[bytes] = []
        while addresses:
            high, low = divmod(first, len(_LAST_DIGITS))
            lasts = _LAST_DIGITS[low : low + len(addresses)]
            head = self.head + b"%09x" % high
            parts = zip(repeat(head), lasts, repeat(self.mid), addresses, repeat(self.tail))
            frames += map(_join, parts)
            addresses, first = addresses[len(lasts) :], first + len(lasts)
        return frames


Written = tuple[bytes, bytes]
"""A text in both encodings: packed at 0, JSON at 1, so that `Dialect.text` is the index."""


class Content(msgspec.Struct, frozen=True, gc=False):
    """All that a letter says but for `id`, `from` and `to`."""

    type: str
    payload: Any
    correlation_id: str | None
    timestamp: int
    ttl: int | None
    via: Written
    """The hub's address."""

    original: str
    """The id of the message that carried it."""

    notes: dict[str, Any]
    """More for the metadata."""


class Dialect(NamedTuple):
    """One of the two encodings."""

    text: bool
    """Whether its frames are text."""

    write: Callable[[Any], bytes]
    """Any value in this encoding."""

    letter: Callable[[bytes, Written, Content], Letter]
    """From the constant part of the id, the sender's address, and the rest."""


_write: Final = msgspec.json.Encoder().encode
_pack: Final = msgspec.msgpack.Encoder().encode


def exact(raw: bytes) -> bytes:
    """The same bytes without the room that the encoder leaves behind them, to be kept for long."""
    return bytes(memoryview(raw))


def written(text: str) -> Written:
    """`text` in both encodings."""
    return exact(_pack(text)), exact(_write(text))


_JSON_TAIL: Final = (
    b',"pattern":"tell","correlationId":%b,"timestamp":%d,"type":%b,"payload":%b,"metadata":'
    b'{"forwarded":true,"via":%b,"originalMessageId":"%b"%b},"ttl":%b,"signature":null}'
)


def _json_letter(prefix: bytes, source: Written, content: Content) -> Letter:
    answers, notes, ttl = content.correlation_id, content.notes, content.ttl
    tail = _JSON_TAIL % (
        b'"%b"' % answers.encode() if answers else b"null",
        content.timestamp,
        _write(content.type),
        _write(content.payload),
        content.via[1],
        content.original.encode(),
        b"," + _write(notes).removeprefix(b"{").removesuffix(b"}") if notes else b"",
        b"null" if ttl is None else b"%d" % ttl,
    )
    return Letter(b'{"id":"' + prefix, b'","from":' + source[1] + b',"to":', tail)


_PACKED_HEAD: Final = bytes([_SMALL_MAP + _FIELD_COUNT]) + _pack("id") + _TEXT_36
_PACKED_FROM: Final = _pack("from")
_PACKED_TO: Final = _pack("to")
_PACKED_REST: Final = bytes([_SMALL_MAP + _FIELD_COUNT - 3])


def _packed_letter(prefix: bytes, source: Written, content: Content) -> Letter:
    rest = {
        "pattern": "tell",
        "correlationId": content.correlation_id,
        "timestamp": content.timestamp,
        "type": content.type,
        "payload": content.payload,
        "metadata": {
            "forwarded": True,
            "via": msgspec.Raw(content.via[0]),
            "originalMessageId": content.original,
            **content.notes,
        },
        "ttl": content.ttl,
        "signature": None,
    }
    return Letter(
        _PACKED_HEAD + prefix,
        _PACKED_FROM + source[0] + _PACKED_TO,
        _pack(rest).removeprefix(_PACKED_REST),
    )


JSON: Final = Dialect(True, _write, _json_letter)  # noqa: FBT003
PACKED: Final = Dialect(False, _pack, _packed_letter)  # noqa: FBT003
