"""A client's session on sockets: what does not depend on a protocol."""

import asyncio
from typing import Any

import pytest

from live.clients.processes import run
from live.clients.scripted import SOON, quick, scripted
from wire.client.toys import ToyClient, ask, tell
from wireloom.live.clients.driver import ClientDriver
from wireloom.live.clients.errors import ClientError, ClosedError, LostError
from wireloom.live.clients.sockets import Dialling
from wireloom.wire.session import Event, FrameReceived, Turn


def driven(url: str, session: ToyClient | None = None, **tuning: Any) -> ClientDriver[bytes]:
    where = Dialling(url=url, max_size=1_000, open_seconds=2, close_seconds=1)
    session = session or ToyClient()
    session._backoff = SOON
    return ClientDriver("toy", session, where, quick(**tuning))


class Broken(ToyClient):
    """Fails on a frame."""

    def handle(self, event: Event, turn: Turn) -> None:
        if isinstance(event, FrameReceived) and event.raw == b"crash":
            raise ZeroDivisionError
        super().handle(event, turn)


def test_frames_go_both_ways_and_answers_find_their_requests() -> None:
    async def main() -> None:
        async with scripted() as server:
            driver = driven(server.url)
            opening = asyncio.ensure_future(driver.open())
            peer = await server.accept()
            assert await peer.connection.recv() == b"hello"
            await peer.connection.send(b"welcome")
            await opening
            asking = asyncio.ensure_future(driver.ask(ask("a")))
            assert await peer.connection.recv() == b"a"
            await peer.connection.send(b"answer a yes")
            assert await asking == "yes"
            assert await driver.ask(tell("b")) is None
            await peer.connection.send(b"news")
            assert await anext(driver.messages) == b"news"
            await driver.close()
            assert [await peer.connection.recv() for _ in range(2)] == [b"b", b"goodbye"]
            with pytest.raises(ClosedError):
                await driver.ask(tell("c"))

    run(main())


def test_a_request_that_is_cancelled_is_withdrawn() -> None:
    async def main() -> None:
        async with scripted() as server:
            session = ToyClient()
            driver = driven(server.url, session)
            opening = asyncio.ensure_future(driver.open())
            peer = await server.accept()
            await peer.connection.send(b"welcome")
            await opening
            asking = asyncio.ensure_future(driver.ask(ask("a")))
            await peer.connection.recv()
            await peer.connection.recv()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert not session.is_waiting
            await driver.close()

    run(main())


def test_a_bug_ends_the_client_and_is_told() -> None:
    async def main() -> None:
        async with scripted() as server:
            driver = driven(server.url, Broken())
            opening = asyncio.ensure_future(driver.open())
            peer = await server.accept()
            await peer.connection.send(b"welcome")
            await opening
            asking = asyncio.ensure_future(driver.ask(ask("a")))
            await peer.connection.recv()
            await peer.connection.send(b"crash")
            with pytest.raises(ClientError, match="the client failed: ZeroDivisionError"):
                await asking
            with pytest.raises(ClientError, match="the client failed"):
                await anext(driver.messages)
            with pytest.raises(ClientError, match="the client failed"):
                await driver.ask(ask("b"))
            with pytest.raises(ZeroDivisionError):
                await driver.close()

    run(main())


def test_a_close_does_not_wait_for_ever_for_a_server_that_does_not_answer() -> None:
    async def main() -> None:
        async with scripted() as server:
            driver = driven(server.url, goodbye_seconds=0.05)
            opening = asyncio.ensure_future(driver.open())
            peer = await server.accept()
            await peer.connection.send(b"welcome")
            await opening
            peer.connection.transport.pause_reading()
            async with asyncio.timeout(2):
                await driver.close()
            peer.connection.transport.abort()

    run(main())


def test_a_lost_connection_fails_what_is_under_way_and_is_replaced() -> None:
    async def main() -> None:
        async with scripted() as server:
            driver = driven(server.url)
            opening = asyncio.ensure_future(driver.open())
            peer = await server.accept()
            await peer.connection.send(b"welcome")
            await opening
            asking = asyncio.ensure_future(driver.ask(ask("a")))
            assert await peer.connection.recv() == b"hello"
            assert await peer.connection.recv() == b"a"
            await peer.connection.close(1011, "oops")
            with pytest.raises(LostError, match="oops, code 1011"):
                await asking
            telling = asyncio.ensure_future(driver.ask(tell("b")))
            peer = await server.accept()
            await peer.connection.send(b"welcome")
            await telling
            assert await peer.connection.recv() == b"hello"
            assert await peer.connection.recv() == b"b"
            await driver.close()

    run(main())
