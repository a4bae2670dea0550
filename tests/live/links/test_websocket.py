"""WebSockets on real sockets, with an independent client and with one that breaks the rules.

The cases follow the Autobahn suite's sections: 1 framing, 2 pings, 3 reserved bits, 4 opcodes,
5 fragments, 6 UTF-8, 7 closing, 9 sizes, 10 chopped writes.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import uvloop
import websockets
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from live.links.wires import (
    ACCEPT,
    BINARY,
    CLOSE,
    CONT,
    PING,
    PONG,
    TEXT,
    Server,
    Wire,
    close,
    frame,
    serving,
)
from live.parts import EchoSession, until
from wireloom.live.links.handshake import Gatekeeper
from wireloom.wire.session import Alive, Closed, Congested, FrameReceived, Opened

SMALL = b"k\xc3\xb6\xc3\xb6l"


def serve(folder: Path, test: Callable[[Server], Awaitable[None]], **more: Any) -> EchoSession:
    async def main() -> EchoSession:
        async with asyncio.timeout(20), serving(folder, **more) as server:
            await test(server)
        return server.session

    return uvloop.run(main())


def talk(folder: Path, test: Callable[[Wire], Awaitable[None]], **more: Any) -> EchoSession:
    async def on(server: Server) -> None:
        await test(await server.connect())

    return serve(folder, on, **more)


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


# 2: pings and pongs.


def test_pings_are_answered_with_their_payload_in_order(tmp_path: Path) -> None:
    async def test(wire: Wire) -> None:
        wire.send(frame(TEXT, b"first"), frame(PING), frame(PING, b"x" * 125))
        assert [await wire.take() for _ in range(3)] == [
            (TEXT, b"first"),
            (PONG, b""),
            (PONG, b"x" * 125),
        ]
        wire.send(frame(PONG, b"unsolicited"), frame(PING, b"\x00\xff"))
        assert await wire.take() == (PONG, b"\x00\xff")

    assert len(talk(tmp_path, test).seen(Alive)) == 4


# 2.5, 3, 4, 5: what breaks the rules of framing.


@pytest.mark.parametrize(
    "sent",
    [
        [frame(PING, b"x" * 126)],
        [frame(CLOSE, b"x" * 126)],
        [frame(TEXT, b"x", rsv=1)],
        [frame(BINARY, b"x", rsv=2)],
        [frame(PING, b"x", rsv=4)],
        [frame(CLOSE, b"", rsv=7)],
        *([frame(opcode, b"x")] for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)),
        [frame(PING, b"x", fin=False)],
        [frame(PONG, b"x", fin=False), frame(CONT, b"y")],
        [frame(CONT, b"x")],
        [frame(CONT, b"x", fin=False)],
        [frame(TEXT, b"x", fin=False), frame(TEXT, b"y")],
        [frame(TEXT, b"x", fin=False), frame(BINARY, b"y", fin=False)],
        [frame(TEXT, b"x", fin=False), frame(CONT, b"y"), frame(CONT, b"z")],
        [frame(TEXT, b"x", mask=False)],
        [b"\x82\xfe\x00\x05" + bytes(9)],
        [b"\x82\xff" + (5).to_bytes(8, "big") + bytes(9)],
        [b"\x82\xff" + (1 << 63).to_bytes(8, "big") + bytes(9)],
    ],
    ids=lambda sent: b"".join(sent)[:2].hex(),
)
def test_frames_that_break_the_rules_end_the_connection(tmp_path: Path, sent: list[bytes]) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        other = await server.connect()
        wire.send(*sent, frame(PING))
        assert await wire.end() == 1002
        other.send(frame(TEXT, b"unharmed"))
        assert await other.take() == (TEXT, b"unharmed")
        await until(lambda: server.session.seen(Closed))

    assert serve(tmp_path, test).seen(Closed)[0] == Closed(1, 1002)


def test_a_message_before_a_frame_that_breaks_the_rules_is_still_heard(tmp_path: Path) -> None:
    async def test(wire: Wire) -> None:
        wire.send(frame(TEXT, b"first"), frame(3, b"x"))
        await wire.end()

    assert len(talk(tmp_path, test).seen(FrameReceived)) == 1


def test_a_message_in_parts_with_pings_between_them(tmp_path: Path) -> None:
    async def test(wire: Wire) -> None:
        wire.send(
            frame(TEXT, b"k\xc3", fin=False),
            frame(PING, b"1"),
            frame(CONT, b"", fin=False),
            frame(CONT, b"\xb6\xc3\xb6", fin=False),
            frame(PING, b"2"),
            frame(CONT, b"l"),
        )
        assert [await wire.take() for _ in range(3)] == [(PONG, b"1"), (PONG, b"2"), (TEXT, SMALL)]
        wire.send(frame(BINARY, b"", fin=False), frame(CONT, b""))
        assert await wire.take() == (BINARY, b"")

    talk(tmp_path, test)


def test_many_small_parts(tmp_path: Path) -> None:
    async def test(wire: Wire) -> None:
        parts = [frame(CONT, bytes([n % 256]), fin=False) for n in range(2_000)]
        wire.send(frame(BINARY, b"", fin=False), *parts, frame(CONT))
        assert await wire.take() == (BINARY, bytes(n % 256 for n in range(2_000)))

    talk(tmp_path, test)


def test_bytes_that_trickle_in_one_by_one(tmp_path: Path) -> None:
    async def test(wire: Wire) -> None:
        for byte in frame(TEXT, SMALL) + frame(PING, b"p"):
            wire.send(bytes([byte]))
            await wire.writer.drain()
        assert [await wire.take(), await wire.take()] == [(TEXT, SMALL), (PONG, b"p")]

    talk(tmp_path, test)


# 6: text is UTF-8.


@pytest.mark.parametrize(
    "sent",
    [
        [frame(TEXT, b"\xff")],
        [frame(TEXT, b"k\xc3")],
        [frame(TEXT, b"\xed\xa0\x80")],
        [frame(TEXT, b"\xc0\xaf")],
        [frame(TEXT, b"\xf4\x90\x80\x80")],
        [frame(TEXT, b"k\xc3", fin=False), frame(CONT, b"x")],
        [frame(TEXT, b"fine", fin=False), frame(CONT, b"\xc3")],
        [frame(TEXT, b"\xff", fin=False)],
        [close(1000, b"\xff")],
    ],
    ids=lambda sent: b"".join(sent)[:2].hex() + str(len(b"".join(sent))),
)
def test_text_that_is_not_utf_8_ends_the_connection(tmp_path: Path, sent: list[bytes]) -> None:
    async def test(wire: Wire) -> None:
        wire.send(*sent)
        assert await wire.end() == 1007

    assert talk(tmp_path, test).seen(FrameReceived) == []


def test_binary_may_be_anything(tmp_path: Path) -> None:
    async def test(wire: Wire) -> None:
        wire.send(frame(BINARY, b"\xff\xfe"))
        assert await wire.take() == (BINARY, b"\xff\xfe")

    talk(tmp_path, test)


# 7: closing.


@pytest.mark.parametrize("code", [1000, 1001, 1002, 1003, 1007, 1009, 1010, 1011, 3000, 3999, 4999])
def test_a_close_is_answered_with_its_code(tmp_path: Path, code: int) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        wire.send(frame(TEXT, b"first"), close(code, SMALL), frame(TEXT, b"late"), frame(PING))
        assert await wire.take() == (TEXT, b"first")
        assert await wire.take() == (CLOSE, code.to_bytes(2, "big"))
        assert await wire.reader.read() == b""
        await until(lambda: server.session.seen(Closed))

    session = serve(tmp_path, test)
    assert session.seen(Closed) == [Closed(1, code)]
    assert len(session.seen(FrameReceived)) == 1


def test_a_close_without_a_code(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        wire.send(frame(CLOSE))
        assert await wire.end() == 1000
        await until(lambda: server.session.seen(Closed))

    assert serve(tmp_path, test).seen(Closed) == [Closed(1, 1005)]


@pytest.mark.parametrize(
    "code", [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535]
)
def test_codes_that_nobody_may_send(tmp_path: Path, code: int) -> None:
    async def test(wire: Wire) -> None:
        wire.send(close(code))
        assert await wire.end() == 1002

    talk(tmp_path, test)


def test_half_a_code_and_a_second_close(tmp_path: Path) -> None:
    async def half(wire: Wire) -> None:
        wire.send(frame(CLOSE, b"\x03"))
        assert await wire.end() == 1002

    async def twice(wire: Wire) -> None:
        wire.send(close(1000), close(1000))
        assert await wire.end() == 1000

    talk(tmp_path / "1", half)
    talk(tmp_path / "2", twice)


def test_a_peer_that_vanishes(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        wire.send(frame(TEXT, b"half a frame")[:6])
        wire.writer.transport.abort()
        await until(lambda: server.session.seen(Closed))

    assert serve(tmp_path, test).seen(Closed) == [Closed(1, 1006)]


# 9: sizes.


def test_a_frame_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        wire.send(frame(BINARY, b"x" * 1_000))
        assert (await wire.take())[0] == BINARY
        wire.send(b"\x82\xff" + (1 << 40).to_bytes(8, "big") + b"mask")
        assert await wire.end() == 1009
        await until(lambda: server.session.seen(Closed))

    assert serve(tmp_path, test, max_frame_size=1_000).seen(Closed) == [Closed(1, 1009)]


def test_parts_that_together_are_too_large_are_refused(tmp_path: Path) -> None:
    async def test(wire: Wire) -> None:
        wire.send(frame(BINARY, b"x" * 600, fin=False), frame(CONT, b"x" * 600, fin=False))
        assert await wire.end() == 1009

    talk(tmp_path, test, max_frame_size=1_000)


# The handshake.


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


# Silence and slowness.


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


def test_a_message_that_does_not_end_is_cut(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        wire.send(frame(TEXT, b"once upon a time", fin=False))

        async def answer() -> None:
            while True:
                wire.send(frame(PONG))
                await asyncio.sleep(0.02)

        answering = asyncio.create_task(answer())
        assert await wire.end() == 1008
        answering.cancel()

    serve(tmp_path, test, ping_seconds=0.1)


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


def test_a_stopped_link_takes_nobody_new(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        server.link.stop()
        with pytest.raises(ConnectionError):
            await server.connect()
        wire.send(frame(TEXT, b"stays"))
        assert await wire.take() == (TEXT, b"stays")

    serve(tmp_path, test)
