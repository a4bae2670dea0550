"""What a transport read, on its way to the WebSocket library.

A close frame is answered before what follows it is looked at: the library looks one frame ahead
of the one that it shows, and if it finds fault with that, it shows neither. So a close frame that
begins what was read is given to it alone.

A frame that is too large is refused from its header. The library shows whole frames, and says with
the last of them how many bytes follow it; those begin a frame that has not come whole.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol

from wireloom.live.links.frames import CLOSE, MAX_HEADER_SIZE, Header, take_header

_CLOSE: Final = 0x88
"""The first byte of a close frame."""

_SIZE_BITS: Final = 0x7F
_HEAD_SIZE: Final = 6
"""Two bytes and the mask of a client's frame."""

_NO_FRAME: Final = -1
_VOID: Final = memoryview(bytearray(64 * 1024))
"""Where to read to what nobody looks at."""


class Shown(Protocol):
    """A whole frame, of which only this may be asked when the library is done with it."""

    @property
    def tail_size(self) -> int:
        """Bytes of the read that follow it."""
        ...


class Reader(Protocol):
    """What the library shows frames to."""

    last: Shown | None
    """The last whole frame of a read: cheaper to note of each than to ask each if it is."""

    def may_come(self, header: Header, begun: bytes) -> bool:
        """Whether a frame may be read that begins so."""
        ...

    def out_of_step(self) -> None:
        """The bytes are not the frames that they should be."""
        ...


class _Between(asyncio.BufferedProtocol):
    """Stands between a transport and the library's protocol.

    Args:
        inner: The library's protocol, which the transport has now.
    """

    __slots__ = ("_inner",)

    def __init__(self, inner: Any) -> None:
        self._inner = inner

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


class Reading(_Between):
    """Passes on what was read, and looks at the headers of frames that come in several reads.

    Args:
        inner: The library's protocol.
        reader: What the library shows frames to.
        deafen: Has nothing more reach the library; told how much of the refused frame is to come.
    """

    __slots__ = ("_begun", "_deafen", "_left", "_reader", "_view")

    def __init__(self, inner: Any, reader: Reader, deafen: Callable[[int], None]) -> None:
        super().__init__(inner)
        self._reader = reader
        self._deafen = deafen
        self._view = memoryview(b"")
        self._begun = b""
        """The beginning of a header."""
        self._left = 0
        """Bytes to come of a frame whose header was looked at."""

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to read to."""
        self._view = view = memoryview(self._inner.get_buffer(sizehint))
        return view

    def buffer_updated(self, nbytes: int) -> None:
        """Passes on what was read, in two parts if it begins with a close frame."""
        left = self._left
        if nbytes < left:
            self._left = left - nbytes
            self._inner.buffer_updated(nbytes)
            return
        data = bytes(self._view[:nbytes])
        reader = self._reader
        reader.last = None
        if data[0] == _CLOSE and nbytes > _HEAD_SIZE and not left and not self._begun:
            size = _HEAD_SIZE + (data[1] & _SIZE_BITS)
            if nbytes > size:
                self._pass_apart(data, size)
                return
        self._inner.buffer_updated(nbytes)
        tail = _NO_FRAME if reader.last is None else reader.last.tail_size
        if tail:
            self._begin(data, tail)
        elif left or self._begun:
            self._left, self._begun = 0, b""

    def _pass_apart(self, data: bytes, size: int) -> None:
        for part in (data[:size], data[size:]):
            memoryview(self._inner.get_buffer(len(part)))[: len(part)] = part
            self._inner.buffer_updated(len(part))

    def _begin(self, data: bytes, tail: int) -> None:
        """Looks at a frame of which only the beginning has come."""
        if tail == _NO_FRAME and self._left:
            self._reader.out_of_step()
            return
        begun = self._begun + data if tail == _NO_FRAME else data[-tail:]
        header = take_header(begun)
        if header is None:
            self._begun, self._left = begun, 0
            return
        self._begun, self._left = b"", max(0, header.length + header.size - len(begun))
        if not self._reader.may_come(header, begun):
            self._deafen(self._left)


class Deaf(_Between):
    """Throws away all that comes after a frame that was refused, up to the peer's goodbye.

    A socket that is closed while it has bytes to read takes back what was last written to it.

    Args:
        inner: The library's protocol.
        left: Bytes to come of the refused frame.
        leave: Called when the peer says goodbye.
    """

    __slots__ = ("_begun", "_leave", "_left")

    def __init__(self, inner: Any, left: int, leave: Callable[[], None]) -> None:
        super().__init__(inner)
        self._left = left
        self._leave = leave
        self._begun = b""

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to read to: all connections to the same place."""
        del sizehint
        return _VOID

    def buffer_updated(self, nbytes: int) -> None:
        """Looks for a close frame among what was read."""
        data, at = self._begun + _VOID[:nbytes], self._left
        while at < len(data) and (header := take_header(data[at : at + MAX_HEADER_SIZE])):
            if header.opcode == CLOSE:
                self._leave()
                return
            at += header.length + header.size
        self._begun, self._left = data[at:], max(0, at - len(data))
