"""A close frame is answered before what follows it is looked at.

The library looks one frame ahead of the one that it shows, and if it finds fault with that, it
shows neither: of two close frames that come together it refuses the second, and never shows the
first. So a close frame that begins what was read is given to it alone.
"""

import asyncio
from typing import Any, Final

_CLOSE: Final = 0x88
"""The first byte of a close frame."""

_SIZE_BITS: Final = 0x7F
_HEAD_SIZE: Final = 6
"""Two bytes and the mask of a client's frame."""


class CloseFirst(asyncio.BufferedProtocol):
    """Stands between a transport and the library's protocol.

    Args:
        inner: The library's protocol, which the transport has now.
    """

    __slots__ = ("_inner", "_view")

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._view = memoryview(b"")

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to read to."""
        self._view = view = memoryview(self._inner.get_buffer(sizehint))
        return view

    def buffer_updated(self, nbytes: int) -> None:
        """Passes on what was read, in two parts if it begins with a close frame."""
        view = self._view
        if view[0] == _CLOSE and nbytes > _HEAD_SIZE:
            size = _HEAD_SIZE + (view[1] & _SIZE_BITS)
            if nbytes > size:
                self._pass_apart(bytes(view[:nbytes]), size)
                return
        self._inner.buffer_updated(nbytes)

    def _pass_apart(self, data: bytes, size: int) -> None:
        for part in (data[:size], data[size:]):
            memoryview(self._inner.get_buffer(len(part)))[: len(part)] = part
            self._inner.buffer_updated(len(part))

    def eof_received(self) -> None:
        """The peer sends no more."""
        self._inner.eof_received()

    def pause_writing(self) -> None:
        """Much waits to leave."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Little waits to leave."""
        self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._inner.connection_lost(exc)
