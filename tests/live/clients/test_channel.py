"""A client's connection: frames leave in order, and what did not leave is known."""

import asyncio

import pytest

from live.clients.processes import run
from wireloom.live.clients.channel import ClientChannel
from wireloom.live.clients.errors import LostError
from wireloom.live.clients.sockets import Socket
from wireloom.wire.session import Dial


class FakeSocket(Socket):
    """A connection that ends when a test wants it to."""

    def __init__(self) -> None:
        self.sent: list[object] = []
        self.is_lost = False

    async def send(self, raw: bytes, *, text: bool = False) -> None:
        await asyncio.sleep(0)
        if self.is_lost:
            raise LostError(None)
        self.sent.append((raw, text))

    async def close(self, code: int = 1000, reason: str = "") -> None:
        self.sent.append((code, reason))


def test_frames_leave_in_order_and_a_close_comes_last() -> None:
    async def main() -> None:
        socket = FakeSocket()
        channel = ClientChannel(socket, Dial("websocket", "ws://x"))
        channel.admit()
        first, second = (asyncio.get_running_loop().create_future() for _ in range(2))
        second.cancel()
        channel.put(b"a", True)
        channel.when_taken(first)
        channel.when_taken(second)
        writing = asyncio.create_task(channel.write())
        await first
        channel.put(b"b", False)
        channel.close(4000, "over")
        await writing
        assert socket.sent == [(b"a", True), (b"b", False), (4000, "over")]
        assert (channel.name, channel.link) == ("ws://x", "websocket")

    run(main())


def test_what_a_connection_does_not_take_is_known() -> None:
    async def main() -> None:
        socket = FakeSocket()
        channel = ClientChannel(socket, Dial("websocket", "ws://x"))
        taken = asyncio.get_running_loop().create_future()
        for raw in (b"a", b"b"):
            channel.put(raw, False)
        channel.when_taken(taken)
        socket.is_lost = True
        with pytest.raises(LostError):
            await channel.write()
        assert channel.unsent == [b"a", b"b"]
        assert not taken.done()

    run(main())
