"""WebSockets on real sockets: who gets in, with an independent client and with a rough one."""

import asyncio
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from live.links.wires import (
    ACCEPT,
    TEXT,
    Server,
    frame,
    serve,
)
from live.parts import until
from wireloom.live.links.handshake import Gatekeeper
from wireloom.wire.session import (
    Alive,
    Closed,
    FrameReceived,
    Opened,
)


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 128, 65_535, 65_536, 200_000])
@pytest.mark.parametrize("is_text", [True, False])
def test_messages_of_every_size_come_back(tmp_path: Path, size: int, is_text: bool) -> None:
    async def test(server: Server) -> None:
        said: str | bytes = "*" * size if is_text else b"\xfe" * size
        async with connect(f"ws://127.0.0.1:{server.port}/ws", compression=None) as client:
            await client.send(said)
            assert await client.recv() == said

    serve(tmp_path, test)


def test_an_independent_client_talks_pings_and_leaves(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        async with connect(f"ws://127.0.0.1:{server.port}/ws") as client:
            await client.send("hello")
            await client.send(["in ", "three ", "parts"])
            assert [await client.recv(), await client.recv()] == ["hello", "in three parts"]
            await (await client.ping())
        await until(lambda: server.session.seen(Closed))

    session = serve(tmp_path, test)
    assert session.seen(Closed) == [Closed(1, 1000)]
    assert session.seen(FrameReceived)[0] == FrameReceived(1, b"hello", text=True)
    assert session.seen(Alive) == [Alive(1)]


def test_the_handshake_of_the_specification(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        head, _ = await server.ask(Connection="keep-alive, Upgrade", Upgrade="WebSocket")
        assert head.startswith("HTTP/1.1 101 ")
        assert f"Sec-WebSocket-Accept: {ACCEPT}\r\n" in head

    serve(tmp_path, test)


@pytest.mark.parametrize(
    ("status", "fields"),
    [
        (404, {"path": "/other"}),
        (426, {"Upgrade": "h2c"}),
        (426, {"Connection": "close"}),
        (426, {"Sec_WebSocket_Version": "8"}),
        (400, {"Sec_WebSocket_Key": "short"}),
        (400, {"Sec_WebSocket_Key": None}),
        (400, {"Host": None}),
        (421, {"Host": "evil.example"}),
        (403, {"Origin": "https://evil.example"}),
        (400, {"Content_Length": "5"}),
    ],
)
def test_requests_that_become_no_websocket(
    tmp_path: Path, status: int, fields: dict[str, str]
) -> None:
    async def test(server: Server) -> None:
        head, wire = await server.ask(**fields)
        assert head.startswith(f"HTTP/1.1 {status} ")
        await wire.reader.read()

    assert serve(tmp_path, test).seen(Opened) == []


def test_origins_that_are_listed_and_tokens(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        head, _ = await server.ask(Origin="https://app.example", Authorization="BEARER  abc ")
        assert head.startswith("HTTP/1.1 101 ")
        await until(lambda: server.session.seen(Opened))

    keeper = Gatekeeper("/ws", origins=["https://app.example"])
    (opened,) = serve(tmp_path, test, gatekeeper=keeper).seen(Opened)
    assert opened.token == "abc"
    assert opened.identity is None
    assert opened.peer.startswith("127.0.0.1:")


def test_too_many_connections_are_refused(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        url = f"ws://127.0.0.1:{server.port}/ws"
        async with connect(url), connect(url):
            with pytest.raises(InvalidStatus) as refused:
                await connect(url)
            assert refused.value.response.status_code == 503
            assert refused.value.response.headers["Retry-After"] == "5"
        await until(lambda: not server.link.readers)
        async with connect(url):
            pass

    serve(tmp_path, test, max_connections=2)


def test_a_request_that_does_not_end_is_cut(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.open()
        wire.send(b"GET /ws HTTP/1.1\r\nHost: ")
        assert await wire.reader.read() == b""

    serve(tmp_path, test, handshake_seconds=0.1)


def test_an_endless_request_is_cut(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.open()
        wire.send(b"GET /ws HTTP/1.1\r\nX: " + b"x" * 100_000)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await wire.reader.readexactly(1)

    serve(tmp_path, test)


def test_a_stopped_link_takes_nobody_new(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        server.link.stop()
        with pytest.raises(ConnectionError):
            await server.connect()
        wire.send(frame(TEXT, b"stays"))
        assert await wire.take() == (TEXT, b"stays")

    serve(tmp_path, test)
