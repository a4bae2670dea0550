"""Who is let in, on real sockets."""

import asyncio
import errno
import resource
import socket
import struct
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from live.links.wires import TEXT, Server, Wire, frame, serve
from live.parts import listening, until
from wireloom.live.links.connection import LinkLimits
from wireloom.live.links.door import BACKLOG, Door, Room
from wireloom.wire.session import Opened


class Entrance:
    """A door, and those who knock."""

    def __init__(self, stack: ExitStack, room: int = 100, **limits: Any) -> None:
        self.turned_away: list[tuple[str, str]] = []
        self._stack = stack
        bound = listening()
        self._port = bound.getsockname()[1]
        granted = LinkLimits(**limits)
        door = Door(
            bound, granted, Room(room), lambda who, why: self.turned_away.append((who, why))
        )
        self.door = stack.enter_context(door)

    def knock(self, source: str = "127.0.0.1") -> tuple[socket.socket, Any]:
        """Somebody comes from an address."""
        to = ("127.0.0.1", self._port)
        made = socket.create_connection(to, source_address=(source, 0))
        self._stack.enter_context(made)
        self.door.setblocking(True)
        accepted, address = self.door.accept()
        self._stack.enter_context(accepted)
        return accepted, address


@contextmanager
def entrance(**limits: Any) -> Iterator[Entrance]:
    with ExitStack() as stack:
        yield Entrance(stack, **limits)


def test_strangers_have_a_bound_of_which_no_address_takes_all() -> None:
    with entrance(max_strangers=6) as stage:
        for _ in range(3):
            stage.knock("127.0.0.2")
        with pytest.raises(ConnectionAbortedError):
            stage.knock("127.0.0.2")
        assert stage.turned_away == [("127.0.0.2", "strangers")]
        stage.knock("127.0.0.3")
        assert stage.door.count == 4


def test_whoever_is_known_makes_room_for_the_next_stranger() -> None:
    with entrance(max_strangers=2, stranger_rate=0.1) as stage:
        for _ in range(20):
            accepted, address = stage.knock()
            stage.door.upgrade(address)
            stage.door.know(address)
            stage.door.know(address)
            accepted.close()
        assert stage.door.count == 0
        assert stage.turned_away == []


def test_connections_that_come_to_nothing_have_a_rate_by_address() -> None:
    with entrance(stranger_rate=0.2) as stage:
        for _ in range(2):
            stage.knock("127.0.0.2")[0].close()
        with pytest.raises(ConnectionAbortedError):
            stage.knock("127.0.0.2")
        assert [why for _, why in stage.turned_away] == ["handshake", "handshake", "rate"]
        stage.knock("127.0.0.3")


def test_failures_are_remembered_of_so_many_addresses_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("wireloom.live.links.door.MAX_HOSTS", 3)
    with entrance(stranger_rate=0.01) as stage:
        for last in range(2, 12):
            stage.knock(f"127.0.0.{last}")[0].close()
        assert len(stage.door._failed) <= 3


def test_more_sockets_than_the_process_may_have_are_turned_away() -> None:
    with entrance(room=3) as stage:
        accepted, address = stage.knock()
        stage.door.know(address)
        for last in (2, 3):
            stage.door.know(stage.knock(f"127.0.0.{last}")[1])
        with pytest.raises(ConnectionAbortedError):
            stage.knock()
        assert stage.turned_away == [("127.0.0.1", "files")]
        accepted.close()
        accepted.close()
        stage.knock()


def test_without_files_it_rests_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise OSError(errno.EMFILE, "none left")

    with entrance() as stage:
        monkeypatch.setattr(socket.socket, "accept", refuse)
        for expected in (errno.EMFILE, None, errno.EMFILE, None):
            with pytest.raises(OSError, match="none left" if expected else "^$") as failed:
                stage.door.accept()
            assert failed.value.errno == expected


def test_the_queue_of_those_who_wait_is_as_long_as_it_was_meant(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        door = server.link._door
        assert door is not None
        told = door.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)
        (longest,) = struct.unpack_from("I", told, 28)  # of a socket that listens, this is `Send-Q`
        assert longest == min(BACKLOG, int(Path("/proc/sys/net/core/somaxconn").read_text()))

    serve(tmp_path, test)


def test_those_who_never_ask_count_and_are_dropped(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        silent = [await server.open() for _ in range(2)]
        head, _ = await server.ask()
        assert head.startswith("HTTP/1.1 503 ")
        for wire in silent:
            assert await wire.reader.read() == b""
        await server.connect()

    serve(tmp_path, test, max_connections=2, handshake_seconds=0.5)


def test_strangers_do_not_use_up_the_connections_of_those_who_are_known(tmp_path: Path) -> None:
    async def test(server: Server) -> None:
        known = await server.connect()
        known.send(frame(TEXT, b"admit"))
        assert await known.take() == (TEXT, b"admit")
        wires: list[Wire] = [await server.connect() for _ in range(3)]
        refused = await server.open()
        assert await refused.reader.read() == b""
        known.send(frame(TEXT, b"still here"))
        assert await known.take() == (TEXT, b"still here")
        wires[0].send(frame(TEXT, b"admit"))
        assert await wires[0].take() == (TEXT, b"admit")
        await server.connect()
        await until(lambda: len(server.session.seen(Opened)) == 5)

    serve(tmp_path, test, max_strangers=6, is_open=False)


CROWD = """
import socket, sys
sys.stdin.readline()
held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(100)]
print("there", flush=True)
sys.stdin.readline()
"""


def test_running_out_of_files_neither_spins_nor_ends_it(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    told: list[str] = []

    async def test(server: Server) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: told.append(context["message"]))
        crowd = await asyncio.create_subprocess_exec(
            sys.executable, "-c", CROWD, str(server.port), stdin=PIPE, stdout=PIPE
        )
        assert crowd.stdin is not None
        assert crowd.stdout is not None
        few = len(list(Path("/proc/self/fd").iterdir())) + 10
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, before[1]))
        crowd.stdin.write(b"\n")
        await crowd.stdout.readline()
        await until(lambda: told)
        begun = process_time()
        await asyncio.sleep(1.5)
        assert process_time() - begun < 1
        assert len(told) <= 4
        crowd.stdin.write(b"\n")
        await crowd.wait()
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        await server.connect()

    try:
        serve(tmp_path, test)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert set(told) == {"socket.accept() out of system resource"}
