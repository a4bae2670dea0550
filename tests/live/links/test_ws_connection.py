"""What leaves on a WebSocket, and how it ends."""

import asyncio
import os
from pathlib import Path

import pytest
import websockets
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from live.links.wires import (
    BINARY,
    CLOSE,
    CONT,
    PING,
    TEXT,
    Server,
    Wire,
    close,
    frame,
    serve,
    talk,
)
from live.parts import until
from wireloom.wire.session import (
    Alive,
    Closed,
    Congested,
    FrameReceived,
)


def test_the_session_closes_with_its_own_code_and_reason(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        async with connect(f"ws://127.0.0.1:{server.port}/ws") as client:
            await client.send("bye 4002")
            assert await client.recv() == "bye 4002"
            with pytest.raises(ConnectionClosed) as closed:
                await client.recv()
            assert closed.value.rcvd == websockets.frames.Close(4002, "as you like")
        await until(lambda: server.session.seen(Closed))

    assert serve(tmp_path, test).seen(Closed) == [Closed(1, 4002)]


def test_a_code_that_cannot_be_sent_becomes_an_ordinary_one(tmp_path: Path) -> None:
    async def test(wire: Wire) -> None:
        wire.send(frame(TEXT, b"bye 1006"), frame(TEXT, b"ignored"))
        assert await wire.take() == (TEXT, b"bye 1006")
        assert await wire.take() == (CLOSE, b"\x03\xe8as you like")
        wire.send(frame(TEXT, b"late"), frame(CONT, b"late"), close(1000))
        assert await wire.end() is None

    assert len(talk(tmp_path, test).seen(FrameReceived)) == 1


def test_a_peer_that_does_not_answer_a_close_is_cut(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        wire.send(frame(TEXT, b"bye 4000"))
        await until(lambda: server.session.seen(Closed))

    assert serve(tmp_path, test, close_seconds=0.05).seen(Closed) == [Closed(1, 4000)]


def test_a_peer_that_vanishes(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        wire.send(frame(TEXT, b"half a frame")[:6])
        wire.writer.transport.abort()
        await until(lambda: server.session.seen(Closed))

    assert serve(tmp_path, test).seen(Closed) == [Closed(1, 1006)]


def test_a_silent_peer_is_asked_and_then_cut(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        async with connect(f"ws://127.0.0.1:{server.port}/ws", ping_interval=None) as client:
            assert await wire.take() == (PING, b"")
            assert await wire.end() is None
            await asyncio.sleep(0.3)
            await client.send("still here")
            assert await client.recv() == "still here"

    session = serve(tmp_path, test, ping_seconds=0.1)
    assert session.seen(Closed)[0] == Closed(1, 1006)
    assert session.seen(Alive)


def test_a_slow_reader_is_noticed_and_one_that_catches_up_too(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        wire.pause()
        chunk = os.urandom(100_000)
        for _ in range(100):
            wire.send(frame(BINARY, chunk))
        await until(lambda: server.session.seen(Congested))
        first = server.session.seen(Congested)[0]
        assert first.frames > 0
        assert first.bytes > 0
        wire.resume()
        for _ in range(100):
            assert await wire.take() == (BINARY, chunk)
        await until(lambda: server.session.seen(Congested)[-1] == Congested(1, 0, 0))

    serve(tmp_path, test, high_bytes=100_000, low_bytes=10_000)


def test_a_reader_that_never_reads_is_cut_and_harms_nobody(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire, other = await server.connect(), await server.connect()
        wire.pause()
        chunk = os.urandom(1_000_000)
        for _ in range(30):
            other.send(frame(BINARY, b"all " + chunk))
            assert (await other.take())[1] == chunk
            if server.session.seen(Closed):
                break
        assert server.session.seen(Closed) == [Closed(1, 1006)]
        other.send(frame(TEXT, b"fine"))
        assert await other.take() == (TEXT, b"fine")

    serve(tmp_path, test, max_backlog_bytes=1_000_000)


def test_a_paused_server_reads_on_where_it_stopped(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        server.driver.pause()
        wire.send(frame(TEXT, b"later"))
        await asyncio.sleep(0.05)
        assert server.session.seen(FrameReceived) == []
        server.driver.resume()
        assert await wire.take() == (TEXT, b"later")

    serve(tmp_path, test)
