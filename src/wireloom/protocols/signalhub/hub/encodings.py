"""The two encodings that a hub speaks, and texts that it keeps in both."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

_write: Final = msgspec.json.Encoder().encode
_pack: Final = msgspec.msgpack.Encoder().encode


class Encoding(NamedTuple):
    """One of the two encodings of a frame (R14)."""

    text: bool
    """Whether its frames are text."""

    write: Callable[[Any], bytes]
    """Any value in this encoding."""


JSON: Final = Encoding(text=True, write=_write)
PACKED: Final = Encoding(text=False, write=_pack)
ENCODINGS: Final = (PACKED, JSON)
"""By whether their frames are text."""

WireText = tuple[bytes, bytes]
"""A text in both encodings: packed at 0, JSON at 1, so that `Encoding.text` is the index."""


def exact(raw: bytes) -> bytes:
    """The same bytes without the room that the encoder leaves behind them, to be kept for long."""
    return bytes(memoryview(raw))


def wire_text(text: str) -> WireText:
    """`text` in both encodings."""
    return exact(_pack(text)), exact(_write(text))
