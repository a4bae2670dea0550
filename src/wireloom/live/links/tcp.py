"""Frames on TCP: each behind its size, 32 bits, big-endian."""

import asyncio
import errno
import socket
from typing import Final, cast

from wireloom.live.links.connection import (
    ABNORMAL,
    Connection,
    Host,
    LinkLimits,
    address_of,
    shown,
)
from wireloom.wire.session import Dial, FrameReceived, FrameRefused

SIZE_SIZE: Final = 4
TOO_LARGE: Final = 1009
NORMAL: Final = 1000
HEAD_SIZE: Final = 1024
"""Bytes of a refused frame that the session sees."""


class TcpConnection(Connection):
    """One TCP connection."""

    __slots__ = ("_closer", "_transport", "code", "is_closing", "is_heard")

    def __init__(
        self, host: Host, peer: str, limits: LinkLimits, transport: asyncio.Transport
    ) -> None:
        super().__init__(host, "tcp", peer, limits)
        self._transport = transport
        self._closer: asyncio.TimerHandle | None = None
        self.code = ABNORMAL
        self.is_closing = False
        self.is_heard = True

    def put(self, raw: bytes, text: bool) -> None:  # noqa: FBT001
        """Takes a frame that leaves with the next `flush`."""
        del text
        if not self._out:
            self.turn.append(self)
        self._out.append(len(raw).to_bytes(SIZE_SIZE, "big"))
        self._out.append(raw)

    def flush(self) -> None:
        """Writes all that was put."""
        if self._out and not self.is_closing:
            data, frames = b"".join(self._out), len(self._out) >> 1
            self._transport.write(data)
            if self.buffered():
                self._wrote(len(data), frames)
        self._out.clear()

    def close(self, code: int, reason: str) -> None:
        """Ends the connection once all has left; TCP has no words for why."""
        del reason
        self.host.catch_up()
        if self.is_closing:
            return
        self.flush()
        self.is_closing = True
        self.code = code
        self.host.ending(self, code)
        self._transport.close()
        loop = asyncio.get_running_loop()
        self._closer = loop.call_later(self.limits.close_seconds, self.abort)

    def abort(self) -> None:
        """Ends the connection at once."""
        self.host.ending(self, self.code)
        self._transport.abort()

    def pause(self) -> None:
        """Stops reading."""
        self._transport.pause_reading()

    def resume(self) -> None:
        """Reads on."""
        self._transport.resume_reading()

    def buffered(self) -> int:
        """Bytes that the system has not taken yet."""
        return self._transport.get_write_buffer_size()

    def end(self) -> None:
        """Forgets what was pending."""
        self._out.clear()
        if self._closer is not None:
            self._closer.cancel()


class _Reader(asyncio.Protocol):
    """Takes frames from the bytes of one connection."""

    def __init__(self, link: "TcpLink", dial: Dial | None = None) -> None:
        self._link = link
        self._dial = dial
        self._buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        link, transport = self._link, cast("asyncio.Transport", transport)
        transport.set_write_buffer_limits(link.limits.high_bytes, link.limits.low_bytes)
        peer = shown(transport.get_extra_info("peername"))
        self.connection = TcpConnection(link.host, peer, link.limits, transport)
        self.connection.dial = self._dial
        link.readers.add(self)
        link.host.opened(self.connection)
        if len(link.readers) > link.limits.max_connections:
            self.connection.abort()

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= SIZE_SIZE and not self.connection.is_closing:
            begin = start + SIZE_SIZE
            size = int.from_bytes(buffer[start:begin], "big")
            if size > self.connection.max_frame_size and not self._fits(size, buffer[begin:]):
                return
            if len(buffer) < begin + size:
                break
            start = begin + size
            frame = bytes(buffer[begin:start])
            self._link.host.received(FrameReceived(self.connection.line, frame))
            self.connection.is_heard = True
        del buffer[:start]

    def _fits(self, size: int, begun: bytearray) -> bool:
        """Whether a frame is small enough; the session hears of one that is not."""
        host, connection = self._link.host, self.connection
        host.catch_up()  # what came before may say who is there
        limit = connection.max_frame_size
        if size <= limit:
            return True
        head = bytes(begun[:HEAD_SIZE])
        host.refused(FrameRefused(connection.line, size, head, text=False, limit=limit))
        connection.close(TOO_LARGE, "the frame is too large")
        return False

    def eof_received(self) -> None:
        self.connection.close(NORMAL, "")

    def pause_writing(self) -> None:
        self._link.host.congested(self.connection)

    def resume_writing(self) -> None:
        self._link.host.congested(self.connection)

    def connection_lost(self, error: Exception | None) -> None:
        del error
        self._link.readers.discard(self)
        self.connection.end()
        self._link.host.closed(self.connection, self.connection.code)

    def check(self) -> None:
        """Cuts a peer that has begun a frame and did not end it."""
        if self._buffer and not self.connection.is_heard:
            self.connection.abort()
        self.connection.is_heard = False


class TcpLink:
    """Takes TCP connections on a listening socket, and makes some to peers.

    Args:
        host: Who is told what happens on them.
        limits: What connections are granted.
    """

    def __init__(self, host: Host, *, limits: LinkLimits | None = None) -> None:
        self.host = host
        self.limits = limits or LinkLimits()
        self.readers: set[_Reader] = set()
        self._server: asyncio.Server | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def listen(self, listening: socket.socket) -> None:
        """Takes connections from now on."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Reader(self), sock=listening)
        self._begin_checks()

    async def dial(self, dial: Dial) -> None:
        """Makes a connection to a peer.

        Raises:
            OSError: If the peer cannot be reached.
            ValueError: If the dial's address is none.
        """
        host, port = address_of(dial.address)
        if len(self.readers) >= self.limits.max_connections:
            raise OSError(errno.EMFILE, "there are max_connections")
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: _Reader(self, dial), host, port)
        self._begin_checks()

    def stop(self) -> None:
        """Takes no further connections; those that are there stay."""
        if self._server is not None:
            self._server.close()
        if self._timer is not None:
            self._timer.cancel()

    def _begin_checks(self) -> None:
        if self._timer is None:
            self._check()

    def _check(self) -> None:
        for reader in tuple(self.readers):
            reader.check()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.limits.ping_seconds, self._check)
