"""Frames on UDP, on real sockets."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvloop

from live.parts import EchoSession, running, until
from wireloom.live.driver import Driver
from wireloom.live.links.connection import Backlog, LinkLimits
from wireloom.live.links.udp import UdpLink
from wireloom.wire.session import Closed, FrameReceived, Opened, Swarm


class Server:
    def __init__(self, driver: Driver, session: EchoSession, **limits: float) -> None:
        self.driver = driver
        self.session = session
        self.link = UdpLink(driver, limits=LinkLimits(**limits))  # type: ignore[arg-type]
        self.bound = bound()
        self.peers: list[socket.socket] = []

    def peer(self) -> socket.socket:
        self.peers.append(bound())
        self.peers[-1].connect(self.bound.getsockname())
        return self.peers[-1]


def bound() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 0))
    made.settimeout(0)
    return made


async def take(peer: socket.socket) -> bytes:
    return await asyncio.get_running_loop().sock_recv(peer, 65_536)


def serve(folder: Path, test: Callable[[Server], Awaitable[None]], **limits: float) -> EchoSession:
    async def main() -> EchoSession:
        session = EchoSession()
        async with asyncio.timeout(20), running(session, folder) as driver:
            server = Server(driver, session, **limits)
            await server.link.listen(server.bound)
            try:
                await test(server)
            finally:
                await driver.stop(1)
                server.link.stop()
                for peer in server.peers:
                    peer.close()
        return session

    return uvloop.run(main())


def test_each_address_is_a_connection_and_gets_its_answers(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        first, second = server.peer(), server.peer()
        first.send(b"one")
        assert await take(first) == b"one"
        second.send(b"two")
        second.send(b"three")
        assert [await take(second), await take(second)] == [b"two", b"three"]
        assert len(server.session.seen(Opened)) == 2

    session = serve(tmp_path, test)
    assert [event.line for event in session.seen(FrameReceived)] == [1, 2, 2]


def test_a_datagram_that_is_too_large_is_passed_over(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        peer = server.peer()
        peer.send(b"x" * 101)
        peer.send(b"x" * 100)
        assert await take(peer) == b"x" * 100

    assert len(serve(tmp_path, test, max_frame_size=100).seen(FrameReceived)) == 1


def test_a_close_forgets_the_peer_and_its_next_datagram_is_a_new_connection(
    tmp_path: Path,
) -> None:
    async def test(server: Server) -> None:
        peer = server.peer()
        peer.send(b"bye 4001")
        assert await take(peer) == b"bye 4001"
        await until(lambda: server.session.seen(Closed))
        peer.send(b"again")
        assert await take(peer) == b"again"

    session = serve(tmp_path, test)
    assert session.seen(Closed)[0] == Closed(1, 4001)
    assert [event.line for event in session.seen(Opened)] == [1, 2]


def test_a_silent_peer_is_forgotten(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        server.peer().send(b"hello")
        await until(lambda: server.session.seen(Closed))

    assert serve(tmp_path, test, ping_seconds=0.02).seen(Closed) == [Closed(1, 1001)]


def test_the_oldest_gives_way_when_there_are_too_many(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        for _ in range(3):
            peer = server.peer()
            peer.send(b"hello")
            assert await take(peer) == b"hello"

    session = serve(tmp_path, test, max_connections=2)
    assert session.seen(Closed)[0] == Closed(1, 1001)


def test_this_side_may_speak_first(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        peer = server.peer()
        connection = server.link.connect(peer.getsockname())
        assert server.link.connect(peer.getsockname()) is connection
        connection.put(b"first", False)
        connection.flush()
        assert await take(peer) == b"first"
        connection.pause()
        connection.resume()
        assert connection.backlog() == Backlog(0, 0)
        assert connection.buffered() == 0
        connection.put(b"dropped", False)
        connection.abort()

    serve(tmp_path, test)


def test_datagrams_are_dropped_when_too_many_wait(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        peer = server.peer()
        server.link.pause_writing()
        server.link.send(b"lost", peer.getsockname())
        assert server.link.dropped == 1
        server.link.resume_writing()
        server.link.error_received(ConnectionRefusedError())
        server.link.send(b"kept", peer.getsockname())
        assert await take(peer) == b"kept"
        server.link.stop()
        server.link.send(b"late", peer.getsockname())

    serve(tmp_path, test)


def test_a_link_that_stops_takes_no_new_peers_and_lets_the_last_answers_out(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        known, late = server.peer(), server.peer()
        known.send(b"hello")
        assert await take(known) == b"hello"
        server.link.stop()
        late.send(b"me too")
        known.send(b"still here")
        assert await take(known) == b"still here"
        await server.driver.stop(1)
        assert await take(known) == b"goodbye"
        assert server.link._transport is not None
        assert server.link._transport.is_closing()

    session = serve(tmp_path, test)
    assert len(session.seen(Opened)) == 1


def test_a_link_tells_its_name_and_its_swarm(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        link = UdpLink(server.driver, name="tea", swarm=Swarm("leaves", 1_000))
        own = bound()
        await link.listen(own)
        peer = bound()
        peer.connect(own.getsockname())
        peer.send(b"hello")
        assert await take(peer) == b"hello"
        link.stop()
        peer.close()
        (connection,) = link._peers.values()
        assert (connection.link, connection.swarm) == ("tea", Swarm("leaves", 1_000))

    session = serve(tmp_path, test)
    assert [event.link for event in session.seen(Opened)] == ["tea"]


def test_a_stranger_makes_way_for_another_before_anybody_who_is_known(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        server.session.is_open = False
        known, first, second = server.peer(), server.peer(), server.peer()
        known.send(b"admit")
        await take(known)
        for one in (first, second):
            one.send(b"hello")
            await take(one)
        known.send(b"still here")
        assert await take(known) == b"still here"
        assert [event.line for event in server.session.seen(Closed)] == [2]

    serve(tmp_path, test, max_connections=2)
