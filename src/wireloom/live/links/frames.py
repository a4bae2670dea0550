"""The parts of RFC 6455 that the WebSocket library leaves to its user.

```
fin 1 | rsv 3 | opcode 4 | mask 1 | length 7 (126: + 16 bits, 127: + 64 bits) | payload
```

A server's frames carry no mask. A message may come in several frames, with control frames
between them; text is UTF-8; a close frame has no body or a listed code and a UTF-8 reason.
"""

from codecs import getincrementaldecoder
from typing import Final, NamedTuple

CONTINUATION: Final = 0x0
TEXT: Final = 0x1
BINARY: Final = 0x2
CLOSE: Final = 0x8
PING: Final = 0x9
PONG: Final = 0xA

MAX_HEADER_SIZE: Final = 14
"""Two bytes, a length of eight, a mask of four."""

MAX_REASON_SIZE: Final = 123
"""A control frame has at most 125 bytes; the code takes two."""

_FIN: Final = 0x80
_MASKED: Final = 0x80
_OPCODE_BITS: Final = 0x0F
_SIZE_BITS: Final = 0x7F
_MASK_SIZE: Final = 4
_KEPT_SIZES: Final = 8_192
"""Headers of frames up to this size are made once."""

_TOO_LARGE: Final = 1009
_PROTOCOL_ERROR: Final = 1002
_INVALID_TEXT: Final = 1007
_MAX_FRAGMENTS: Final = 65_536
_Utf8: Final = getincrementaldecoder("utf-8")


class BreachError(Exception):
    """The peer broke a rule of the WebSocket protocol.

    Args:
        code: What the connection is closed with.
        reason: Why, for people.
    """

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Header(NamedTuple):
    """What the first bytes of a frame say."""

    opcode: int
    size: int
    """Bytes of the payload."""

    length: int
    """Bytes of the header, with its mask."""

    mask: bytes


def take_header(data: bytes) -> Header | None:
    """The header that bytes begin with; None if it is not complete."""
    if len(data) < 2:
        return None
    first, second = data[0], data[1]
    size, length = second & _SIZE_BITS, 2
    if size >= 126:
        length = 4 if size == 126 else 10
        size = int.from_bytes(data[2:length], "big")
    mask_at = length
    length += _MASK_SIZE if second & _MASKED else 0
    if len(data) < length:
        return None
    return Header(first & _OPCODE_BITS, size, length, data[mask_at:length])


def unmask(payload: bytes, mask: bytes) -> bytes:
    """The beginning of a payload as it was before it was masked."""
    if not mask:
        return payload
    key = (mask * (len(payload) // _MASK_SIZE + 1))[: len(payload)]
    plain = int.from_bytes(payload, "big") ^ int.from_bytes(key, "big")
    return plain.to_bytes(len(payload), "big")


class Headers(dict[int, bytes]):
    """The headers of whole frames of one kind, by the payload's size.

    Args:
        opcode: The kind.
    """

    def __init__(self, opcode: int) -> None:
        super().__init__()
        self._first = bytes([_FIN | opcode])

    def __missing__(self, size: int) -> bytes:
        made = self._first + _length(size)
        if size <= _KEPT_SIZES:
            self[size] = made
        return made


def _length(size: int) -> bytes:
    if size < 126:
        return bytes([size])
    if size < 1 << 16:
        return b"\x7e" + size.to_bytes(2, "big")
    return b"\x7f" + size.to_bytes(8, "big")


def check_text(raw: bytes) -> None:
    """Refuses a text message that is not UTF-8.

    Raises:
        BreachError: If it is not.
    """
    try:
        raw.decode()
    except UnicodeDecodeError:
        raise BreachError(_INVALID_TEXT, "text that is not UTF-8") from None


def put_close(code: int, reason: str) -> bytes:
    """The body of a close frame; a reason that is too long is cut between characters."""
    return (
        code.to_bytes(2, "big") + reason.encode()[:MAX_REASON_SIZE].decode(errors="ignore").encode()
    )


def take_close(body: bytes) -> int | None:
    """The code of a close frame, None if it has none.

    Raises:
        BreachError: If the body is none that a peer may send.
    """
    if not body:
        return None
    code = int.from_bytes(body[:2], "big")
    if len(body) == 1 or not is_sendable(code):
        raise BreachError(_PROTOCOL_ERROR, "no code that a peer may close with")
    check_text(body[2:])
    return code


def is_sendable(code: int) -> bool:
    """Whether a close frame may carry the code."""
    return 1000 <= code <= 1003 or 1007 <= code <= 1014 or 3000 <= code <= 4999


class Assembly:
    """A message that comes in several frames.

    Args:
        first: The first frame's payload.
        is_text: Whether the message is text.

    Raises:
        BreachError: If the first frame breaks a rule.
    """

    def __init__(self, first: bytes, *, is_text: bool) -> None:
        self.is_text = is_text
        self.size = 0
        """Bytes of all frames so far: whoever adds to them keeps to a limit."""

        self._parts: list[bytes] = []
        self._decoder = _Utf8() if is_text else None
        self.add(first, is_last=False)

    def add(self, part: bytes, *, is_last: bool) -> None:
        """Takes the next frame's payload.

        Raises:
            BreachError: If it comes in too many parts or its text is not UTF-8 so far.
        """
        self.size += len(part)
        if part and len(self._parts) >= _MAX_FRAGMENTS:
            raise BreachError(_TOO_LARGE, "the message has too many parts")
        if self._decoder is not None:
            try:
                self._decoder.decode(part, is_last)
            except UnicodeDecodeError:
                raise BreachError(_INVALID_TEXT, "text that is not UTF-8") from None
        if part:
            self._parts.append(part)

    def head(self, size: int) -> bytes:
        """The first bytes of the message so far."""
        return self._parts[0][:size] if self._parts else b""

    def whole(self) -> bytes:
        """The message, once its last frame was added."""
        return b"".join(self._parts)
