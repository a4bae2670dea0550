"""One WebSocket: what leaves on it, and how it ends."""

import asyncio
from collections.abc import Callable
from typing import Final

from picows import WSCloseCode, WSTransport

from wireloom.live.links.connection import ABNORMAL, Connection, Host, LinkLimits
from wireloom.live.links.frames import BINARY, TEXT, Headers, is_sendable, put_close
from wireloom.live.links.pace import LARGE

NORMAL: Final = 1000
_NONE: Final = -1
_TEXT_HEADERS: Final = Headers(TEXT)
_BINARY_HEADERS: Final = Headers(BINARY)


class WebSocketConnection(Connection):
    """One WebSocket."""

    __slots__ = (
        "_is_asked",
        "_is_paused",
        "_rest",
        "_size",
        "_timer",
        "_transport",
        "_write",
        "code",
        "is_closing",
        "is_heard",
        "on_admitted",
        "trusted_size",
    )

    def __init__(
        self, host: Host, link: str, peer: str, limits: LinkLimits, transport: WSTransport
    ) -> None:
        super().__init__(host, link, peer, limits)
        self._transport = transport
        self._write = transport.underlying_transport.write
        self._size = transport.underlying_transport.get_write_buffer_size
        self._timer: asyncio.TimerHandle | None = None
        self.is_closing = False
        self.is_heard = True
        self._is_asked = False
        self._is_paused = False
        self._rest: asyncio.TimerHandle | None = None
        self.code: int | None = None
        """What ended it, once something did."""

        self.on_admitted: Callable[[], None] = lambda: None
        """Called when the session knows who is there."""

        self.trusted_size = _NONE
        """Frames of up to this size are taken without a question: none of a stranger, and no large
        ones."""

    def put(self, raw: bytes, text: bool) -> None:  # noqa: FBT001
        """Takes a frame that leaves with the next `flush`."""
        out = self._out
        if not out:
            self.turn.append(self)
        out.append((_TEXT_HEADERS if text else _BINARY_HEADERS)[len(raw)])
        out.append(raw)

    def flush(self) -> None:
        """Writes all that was put; after a close frame nothing leaves any more."""
        out = self._out
        if not out:
            return
        data, frames = b"".join(out), len(out) >> 1
        out.clear()
        if self._transport.is_close_frame_sent or self._transport.is_disconnected:
            return
        self._write(data)
        if self._size():
            self._wrote(len(data), frames)

    def close(self, code: int, reason: str) -> None:
        """Says goodbye and waits a while for the peer to do the same."""
        self.host.catch_up()
        if self.is_closing:
            return
        self.flush()
        self.is_closing = True
        self.code = self.code or code
        self.host.ending(self, self.code)
        if not self._transport.is_close_frame_sent:
            sent = code if is_sendable(code) else NORMAL
            self._transport.send_close(_close_code(sent), put_close(sent, reason)[2:])
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.limits.close_seconds, self.abort)

    @property
    def is_over(self) -> bool:
        """Whether goodbye was said, here or by the library."""
        return self.is_closing or self._transport.is_close_frame_sent

    def leave(self) -> None:
        """Lets go of the socket once all has left it."""
        self._transport.disconnect()

    def abort(self) -> None:
        """Ends the connection at once."""
        self.host.ending(self, self.code or ABNORMAL)
        self._transport.disconnect(graceful=False)

    def pause(self) -> None:
        """Stops reading."""
        self._is_paused = True
        self._transport.underlying_transport.pause_reading()

    def resume(self) -> None:
        """Reads on, unless the connection rests."""
        self._is_paused = False
        if self._rest is None:
            self._transport.underlying_transport.resume_reading()

    def rest(self, seconds: float) -> None:
        """Reads nothing for a while."""
        if self._rest is None:
            self._rest = asyncio.get_running_loop().call_later(seconds, self._wake)
            self._transport.underlying_transport.pause_reading()

    def _wake(self) -> None:
        self._rest = None
        if not self._is_paused:
            self._transport.underlying_transport.resume_reading()

    def buffered(self) -> int:
        """Bytes that the system has not taken yet."""
        return self._size()

    def admit(self) -> None:
        """The session knows who is there."""
        super().admit()
        self.trusted_size = min(LARGE, self.max_frame_size)
        self.on_admitted()

    def check(self) -> None:
        """Asks a silent peer for a sign of life, or cuts one that gave none."""
        if self.is_heard:
            self.is_heard = self._is_asked = False
        elif self._is_asked:
            self.abort()
        else:
            self._is_asked = True
            self._transport.send_ping()

    def end(self) -> int:
        """Forgets what was pending, and tells the code that the connection ended with."""
        for timer in filter(None, (self._timer, self._rest)):
            timer.cancel()
        self._out.clear()
        handshake = self._transport.close_handshake
        if self.code is None and handshake is not None and handshake.sent is not None:
            self.code = int(handshake.sent.code.value)
        return ABNORMAL if self.code is None else self.code


def _close_code(code: int) -> WSCloseCode:
    """A code as the library's type has it: it passes any number on."""
    return code  # type: ignore[return-value]
