"""Frames on TCP, on real sockets."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import uvloop

from live.parts import EchoSession, listening, port_of, running, until
from wireloom.live.links.connection import LinkLimits
from wireloom.live.links.tcp import TcpLink
from wireloom.wire.session import Closed, Congested, FrameReceived, FrameRefused

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def frame(raw: bytes) -> bytes:
    return len(raw).to_bytes(4, "big") + raw


async def take(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))


class Server:
    def __init__(self, link: TcpLink, session: EchoSession, port: int) -> None:
        self.link = link
        self.session = session
        self.port = port
        self.writers: list[asyncio.StreamWriter] = []

    async def connect(self) -> Streams:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writers.append(writer)
        return reader, writer


def serve(folder: Path, test: Callable[[Server], Awaitable[None]], **limits: float) -> EchoSession:
    async def main() -> EchoSession:
        session = EchoSession()
        async with asyncio.timeout(20), running(session, folder) as driver:
            link = TcpLink(driver, limits=LinkLimits(**limits))  # type: ignore[arg-type]
            bound = listening()
            await link.listen(bound)
            server = Server(link, session, port_of(bound))
            try:
                await test(server)
            finally:
                link.stop()
                for writer in server.writers:
                    writer.transport.abort()
                await asyncio.sleep(0.01)
        return session

    return uvloop.run(main())


def test_frames_come_back_however_they_are_cut(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        reader, writer = await server.connect()
        writer.write(frame(b"one") + frame(b"") + frame(b"x" * 100_000)[:50_000])
        assert [await take(reader), await take(reader)] == [b"one", b""]
        writer.write(frame(b"x" * 100_000)[50_000:])
        assert await take(reader) == b"x" * 100_000
        for byte in frame(b"slow"):
            writer.write(bytes([byte]))
            await writer.drain()
        assert await take(reader) == b"slow"

    assert len(serve(tmp_path, test).seen(FrameReceived)) == 4


def test_a_frame_that_is_too_large_ends_the_connection_unread(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        reader, writer = await server.connect()
        writer.write(frame(b"fine") + (1 << 31).to_bytes(4, "big"))
        assert await take(reader) == b"fine"
        assert await take(reader) == b"too large"
        assert await reader.read() == b""
        await until(lambda: server.session.seen(Closed))

    session = serve(tmp_path, test, max_frame_size=100)
    assert session.seen(FrameRefused) == [FrameRefused(1, 1 << 31, b"", text=False, limit=100)]
    assert session.seen(Closed) == [Closed(1, 1009)]


def test_either_side_may_end_it(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        reader, writer = await server.connect()
        writer.write(frame(b"bye 4001") + frame(b"ignored"))
        assert await take(reader) == b"bye 4001"
        assert await reader.read() == b""
        _, writer = await server.connect()
        writer.write_eof()
        await until(lambda: len(server.session.seen(Closed)) == 2)
        _, writer = await server.connect()
        await until(lambda: len(server.link.readers) == 1)
        writer.transport.abort()
        await until(lambda: len(server.session.seen(Closed)) == 3)

    session = serve(tmp_path, test)
    assert session.seen(Closed)[:2] == [Closed(1, 4001), Closed(2, 1000)]
    assert len(session.seen(FrameReceived)) == 1


def test_a_frame_that_does_not_end_is_cut_and_silence_is_not(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        reader, writer = await server.connect()
        writer.write(frame(b"slow loris")[:6])
        quiet_reader, quiet = await server.connect()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await reader.readexactly(1)
        quiet.write(frame(b"here"))
        assert await take(quiet_reader) == b"here"

    serve(tmp_path, test, ping_seconds=0.05)


def test_too_many_are_cut(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        reader, writer = await server.connect()
        await until(lambda: server.link.readers)
        late, _ = await server.connect()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await late.readexactly(1)
        writer.write(frame(b"stays"))
        assert await take(reader) == b"stays"

    serve(tmp_path, test, max_connections=1)


def test_a_slow_reader_is_noticed_and_finally_cut(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        _, writer = await server.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        chunk = frame(os.urandom(1_000_000))
        for _ in range(40):
            writer.write(chunk)
        await until(lambda: server.session.seen(Closed))
        assert server.session.seen(Congested)[0].bytes > 0

    session = serve(tmp_path, test, max_backlog_bytes=8_000_000)
    assert session.seen(Closed) == [Closed(1, 1006)]


def test_a_paused_connection_reads_on_where_it_stopped(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        reader, writer = await server.connect()
        await until(lambda: server.link.readers)
        (one,) = server.link.readers
        one.connection.pause()
        writer.write(frame(b"later"))
        await asyncio.sleep(0.05)
        assert server.session.seen(FrameReceived) == []
        one.connection.resume()
        assert await take(reader) == b"later"
        one.connection.close(1000, "")
        one.connection.close(1000, "")

    serve(tmp_path, test)
