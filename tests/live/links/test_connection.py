"""What all connections share: counting what waits."""

import pytest

from live.parts import Pipe
from wireloom.live.links.connection import Backlog, Connection, LinkLimits, address_of, shown


class Watcher:
    def __init__(self) -> None:
        self.stalls: list[Connection] = []
        self.waiting: list[int] = []

    def waits(self, connection: Connection, size: int) -> None:
        del connection
        self.waiting.append(size)

    def stalled(self, connection: Connection) -> None:
        self.stalls.append(connection)


def test_frames_that_wait_are_counted_until_they_have_left() -> None:
    pipe = Pipe(Watcher())
    pipe.stuck = 10
    pipe._wrote(10, 1)
    pipe.stuck = 40
    pipe._wrote(30, 3)
    assert pipe.backlog() == Backlog(4, 40)
    pipe.stuck = 31
    assert pipe.backlog() == Backlog(4, 31)
    pipe.stuck = 30
    assert pipe.backlog() == Backlog(3, 30)
    pipe.stuck = 1
    assert pipe.backlog() == Backlog(3, 1)
    pipe.stuck = 0
    assert pipe.backlog() == Backlog(0, 0)


def test_too_much_that_waits_is_reported() -> None:
    watcher = Watcher()
    pipe = Pipe(watcher, LinkLimits(max_backlog_bytes=100))
    pipe.stuck = 100
    pipe._wrote(100, 1)
    assert watcher.stalls == []
    pipe.stuck = 101
    pipe._wrote(1, 1)
    assert watcher.stalls == [pipe]
    assert watcher.waiting == [100]


def test_limits_of_strangers_end_when_somebody_is_admitted() -> None:
    pipe = Pipe(Watcher(), LinkLimits(max_frame_size=100_000))
    assert (pipe.is_admitted, pipe.max_frame_size) == (False, 65_536)
    pipe.admit()
    assert (pipe.is_admitted, pipe.max_frame_size) == (True, 100_000)
    assert Pipe(Watcher(), LinkLimits(max_frame_size=10)).max_frame_size == 10


def test_addresses_as_people_write_them() -> None:
    assert shown(("127.0.0.1", 80)) == "127.0.0.1:80"
    assert shown(("::1", 80, 0, 0)) == "[::1]:80"
    assert shown(None) == "unknown"


@pytest.mark.parametrize(
    ("text", "address"), [("host:1", ("host", 1)), ("[::1]:65535", ("::1", 65_535))]
)
def test_an_address_is_read_as_it_is_shown(text: str, address: tuple[str, int]) -> None:
    assert address_of(text) == address
    assert shown(address) == text


@pytest.mark.parametrize(
    "text", ["", "host", "host:", ":1", "host:0", "host:65536", "host:-1", "::1:1", "h:٣", "[]:1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="host"):
        address_of(text)
