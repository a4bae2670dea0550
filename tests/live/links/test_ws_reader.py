"""What comes in on a WebSocket, from a client that breaks the rules.

The cases follow the Autobahn suite's sections: 2 pings, 3 reserved bits, 4 opcodes, 5 fragments,
6 UTF-8, 7 closing, 9 sizes, 10 chopped writes.
"""

import asyncio
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from live.links.wires import (
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
    serve,
    talk,
)
from live.parts import until
from wireloom.wire.session import (
    Alive,
    Closed,
    FrameReceived,
    FrameRefused,
)

SMALL = b"k\xc3\xb6\xc3\xb6l"


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


def test_a_frame_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    huge = 1 << 40

    async def test(server: Server) -> None:
        wire = await server.connect()
        wire.send(frame(BINARY, b"x" * 1_000))
        assert (await wire.take())[0] == BINARY
        head = frame(TEXT, b"z" * 70_000)[10:1_514]
        wire.send(b"\x81\xff" + huge.to_bytes(8, "big") + head)
        assert await wire.take() == (BINARY, b"too large")
        assert await wire.take() == (CLOSE, b"\x03\xf1the message is too large")
        wire.send(frame(TEXT, b"late") * 1_000)
        await until(lambda: server.session.seen(Closed))

    session = serve(tmp_path, test, max_frame_size=1_000)
    (refused,) = session.seen(FrameRefused)
    assert refused == FrameRefused(1, huge, b"z" * len(refused.head), text=True, limit=1_000)
    assert 0 < len(refused.head) <= 1_024
    assert session.seen(Closed) == [Closed(1, 1009)]
    assert len(session.seen(FrameReceived)) == 1


def test_a_client_that_is_still_writing_hears_why_it_is_refused(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        url = f"ws://127.0.0.1:{server.port}/ws"
        async with connect(url, compression=None) as client:
            await client.send(b"x" * 8_000_000)
            assert await client.recv() == b"too large"
            with pytest.raises(ConnectionClosed) as closed:
                await client.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009

    session = serve(tmp_path, test, max_frame_size=1_000_000, close_seconds=15)
    assert [event.size for event in session.seen(FrameRefused)] == [8_000_000]


def test_a_large_frame_that_came_whole_is_refused_too(tmp_path: Path) -> None:
    async def test(wire: Wire) -> None:
        wire.send(frame(TEXT, b"x" * 600))
        assert await wire.take() == (BINARY, b"too large")
        assert await wire.end() == 1009

    (refused,) = talk(tmp_path, test, max_frame_size=500).seen(FrameRefused)
    assert refused == FrameRefused(1, 600, b"x" * 600, text=True, limit=500)


@pytest.mark.parametrize("is_whole", [True, False])
def test_parts_that_together_are_too_large_are_refused(tmp_path: Path, is_whole: bool) -> None:
    async def test(wire: Wire) -> None:
        wire.send(frame(TEXT, b"x" * 600, fin=False))
        wire.send(frame(CONT, b"y" * 600, fin=False)[: None if is_whole else 100])
        assert await wire.take() == (BINARY, b"too large")
        assert await wire.end() == 1009

    (refused,) = talk(tmp_path, test, max_frame_size=1_000).seen(FrameRefused)
    assert refused == FrameRefused(1, 1_200, b"x" * 600, text=True, limit=1_000)


def test_a_strangers_frames_are_small(tmp_path: Path) -> None:
    async def test(wire: Wire) -> None:
        wire.send(frame(TEXT, b"x" * 65_536))
        assert await wire.take() == (TEXT, b"x" * 65_536)
        wire.send(frame(TEXT, b"x" * 65_537)[:20])
        assert await wire.take() == (BINARY, b"too large")
        assert await wire.end() == 1009

    (refused,) = talk(tmp_path, test, is_open=False).seen(FrameRefused)
    assert (refused.size, refused.limit) == (65_537, 65_536)


@pytest.mark.parametrize("is_whole", [True, False])
def test_whoever_says_who_it_is_may_send_large_frames_at_once(
    tmp_path: Path, is_whole: bool
) -> None:
    async def test(wire: Wire) -> None:
        large = frame(TEXT, b"x" * 100_000)
        wire.send(frame(TEXT, b"admit"), large[: None if is_whole else 100])
        assert await wire.take() == (TEXT, b"admit")
        if not is_whole:
            wire.send(large[100:])
        assert await wire.take() == (TEXT, b"x" * 100_000)

    assert talk(tmp_path, test, is_open=False).seen(FrameRefused) == []


@pytest.mark.parametrize("is_in_parts", [True, False])
def test_a_strangers_frames_are_few(tmp_path: Path, is_in_parts: bool) -> None:
    async def test(wire: Wire) -> None:
        hello = frame(TEXT, b"hello")
        if is_in_parts:
            hello = frame(TEXT, b"he", fin=False) + frame(CONT, b"llo")
        wire.send(hello * 8)
        for _ in range(8):
            assert await wire.take() == (TEXT, b"hello")
        wire.send(hello)
        assert await wire.take() == (CLOSE, b"\x03\xf0too many messages from a stranger")

    assert len(talk(tmp_path, test, is_open=False).seen(FrameReceived)) == 8


@pytest.mark.parametrize(
    "idle", [frame(PING), frame(PONG, b"x"), frame(CONT, fin=False)], ids=["ping", "pong", "part"]
)
def test_frames_that_say_nothing_have_a_rate(tmp_path: Path, idle: bytes) -> None:
    async def test(server: Server) -> None:
        wire = await server.connect()
        wire.send(frame(TEXT, b"x", fin=False), idle * 5_000)
        assert await wire.end() == 1008
        await until(lambda: server.session.seen(Closed))

    session = serve(tmp_path, test)
    assert session.seen(Closed) == [Closed(1, 1008)]
    assert len(session.seen(Alive)) <= 60


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


def test_many_large_frames_are_read_slowly_and_small_ones_are_not(tmp_path: Path) -> None:
    large = b"x" * 100_000

    async def test(server: Server) -> None:
        wire, other = await server.connect(), await server.connect()
        wire.send(*[frame(BINARY, large)] * 50)
        assert await wire.take() == (BINARY, large)
        other.send(*[frame(TEXT, b"small")] * 100)
        for _ in range(100):
            assert await other.take() == (TEXT, b"small")
        seen = [event.raw for event in server.session.seen(FrameReceived)]
        assert seen.count(large) < 25, "most of them wait at the sender"

    serve(tmp_path, test, large_bytes_per_second=160_000.0)


def test_a_connection_that_rests_stays_paused_with_the_node(tmp_path: Path) -> None:
    large = b"x" * 100_000

    async def test(server: Server) -> None:
        wire = await server.connect()
        wire.send(frame(BINARY, large))
        assert await wire.take() == (BINARY, large)
        server.driver.pause()
        wire.send(frame(TEXT, b"later"))
        await asyncio.sleep(0.2)
        assert len(server.session.seen(FrameReceived)) == 1
        server.driver.resume()
        assert await wire.take() == (TEXT, b"later")

    serve(tmp_path, test, large_bytes_per_second=1_000_000.0)


def test_what_large_frames_leave_behind_has_a_bound(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        wires = [await server.connect() for _ in range(4)]
        for number, wire in enumerate(wires):
            large = b"x" * (1_000_000 + number)
            wire.send(frame(BINARY, large))
            if number < 3:
                assert await wire.take() == (BINARY, large)
        await until(lambda: server.session.seen(Closed))
        assert server.session.seen(Closed) == [Closed(4, 1013)]
        assert server.link.buffers.total == 3_000_003
        wires[0].send(frame(TEXT, b"fine"))
        assert await wires[0].take() == (TEXT, b"fine")

    serve(tmp_path, test, max_buffer_bytes=3_500_000)
