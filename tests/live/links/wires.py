"""A WebSocket client that sends what it is told to, right or wrong."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import uvloop

from live.parts import EchoSession, listening, port_of, running
from wireloom.live.driver import Driver
from wireloom.live.links.connection import LinkLimits
from wireloom.live.links.door import Room
from wireloom.live.links.handshake import Gatekeeper
from wireloom.live.links.websocket import WebSocketLink

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""The example of RFC 6455, section 1.3."""

REQUEST = {
    "Host": "127.0.0.1",
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": KEY,
}


def frame(
    opcode: int, payload: bytes = b"", *, fin: bool = True, rsv: int = 0, mask: bool = True
) -> bytes:
    """A frame as a client sends it."""
    size = len(payload)
    bit = 0x80 if mask else 0
    if size < 126:
        head = bytes([bit | size])
    elif size < 1 << 16:
        head = bytes([bit | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([bit | 127]) + size.to_bytes(8, "big")
    first = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    if not mask:
        return first + head + payload
    key = os.urandom(4)
    return first + head + key + bytes(byte ^ key[i % 4] for i, byte in enumerate(payload))


def close(code: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, code.to_bytes(2, "big") + reason)


class Wire:
    """One connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, *frames: bytes) -> None:
        self.writer.write(b"".join(frames))

    def pause(self) -> None:
        """Stops reading."""
        cast("asyncio.Transport", self.writer.transport).pause_reading()

    def resume(self) -> None:
        """Reads on."""
        cast("asyncio.Transport", self.writer.transport).resume_reading()

    async def take(self) -> tuple[int, bytes]:
        """The next frame from the server: opcode and payload."""
        first, second = await self.reader.readexactly(2)
        assert first & 0x70 == 0
        assert second & 0x80 == 0
        size = second
        if second >= 126:
            size = int.from_bytes(await self.reader.readexactly(2 if second == 126 else 8), "big")
        return first & 0x0F, await self.reader.readexactly(size)

    async def end(self) -> int | None:
        """Reads to the end; the code of the close frame, None if there was none."""
        code = None
        try:
            while True:
                opcode, payload = await self.take()
                if opcode == CLOSE:
                    code = int.from_bytes(payload[:2], "big")
        except (asyncio.IncompleteReadError, ConnectionError):
            return code


class Server:
    """A server with an echo session."""

    def __init__(self, driver: Driver, session: EchoSession, link: WebSocketLink, port: int):
        self.driver = driver
        self.session = session
        self.link = link
        self.port = port
        self._writers: list[asyncio.StreamWriter] = []

    async def open(self) -> Wire:
        """A connection on which nothing was said yet."""
        wire = Wire(*await asyncio.open_connection("127.0.0.1", self.port))
        self._writers.append(wire.writer)
        return wire

    async def leave(self) -> None:
        """Cuts all connections that are still there."""
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0)

    async def ask(self, path: str = "/ws", **fields: Any) -> tuple[str, Wire]:
        """Asks for a WebSocket; the head of the answer and the connection."""
        wire = await self.open()
        named = {name.replace("_", "-"): value for name, value in fields.items()}
        lines = [f"GET {path} HTTP/1.1"]
        for name, value in {**REQUEST, **named}.items():
            values = value if isinstance(value, list) else [value]
            lines += [f"{name}: {one}" for one in values if one is not None]
        wire.send("\r\n".join([*lines, "", ""]).encode())
        head = await wire.reader.readuntil(b"\r\n\r\n")
        return head.decode(), wire

    async def connect(self) -> Wire:
        head, wire = await self.ask()
        assert head.startswith("HTTP/1.1 101 ")
        return wire


@asynccontextmanager
async def serving(
    folder: Path,
    *,
    gatekeeper: Gatekeeper | None = None,
    tls: Any = None,
    is_open: bool = True,
    room: Room | None = None,
    **limits: Any,
) -> AsyncIterator[Server]:
    session = EchoSession(is_open=is_open)
    async with running(session, folder) as driver:
        granted = LinkLimits(**{"close_seconds": 0.5, **limits})
        keeper = gatekeeper or Gatekeeper("/ws")
        link = WebSocketLink(driver, keeper, limits=granted, tls=tls, room=room)
        bound = listening()
        port = port_of(bound)
        await link.listen(bound)
        server = Server(driver, session, link, port)
        try:
            yield server
        finally:
            link.stop()
            await server.leave()


def serve(folder: Path, test: Callable[[Server], Awaitable[None]], **more: Any) -> EchoSession:
    """Runs a test with a server; gives what its session has seen."""

    async def main() -> EchoSession:
        async with asyncio.timeout(20), serving(folder, **more) as server:
            await test(server)
        return server.session

    return uvloop.run(main())


def talk(folder: Path, test: Callable[[Wire], Awaitable[None]], **more: Any) -> EchoSession:
    """Runs a test with one connection to a server."""

    async def on(server: Server) -> None:
        await test(await server.connect())

    return serve(folder, on, **more)
