"""Who comes in: connections are counted from `accept` to the end of their socket.

Until the session knows who is there, a connection is a stranger's. Strangers have a bound of their
own, of which no address can take what others need, and an address whose connections come to nothing
has to wait before it may try again. So strangers can neither use up the connections of those who
are known nor keep the loop busy with handshakes.
"""

import asyncio
import errno
import socket
from collections.abc import Callable
from time import monotonic
from typing import Final

from wireloom.live.links.connection import LinkLimits, shown
from wireloom.wire.rates import Bucket
from wireloom.wire.shares import Shares, network

BACKLOG: Final = 4_096
"""Connections that wait to be accepted."""

ACCEPTS_A_TURN: Final = 32
"""Connections that are accepted before others have their turn."""

BURST_SECONDS: Final = 10
"""An address may use the tries of so many seconds at once."""

MAX_HOSTS: Final = 16_384
"""Addresses of which failed tries are remembered."""

_OUT_OF: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_NO_SIZE: Final = 1
"""Strangers are counted, not weighed."""

Address = tuple[str, int] | tuple[str, int, int, int]
TurnedAway = Callable[[str, str], None]
"""Told who was not let in, and why."""


class Room:
    """How many sockets all endpoints of a process may have together.

    Args:
        limit: As many; files for the store, captures and the pages are not among them.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.taken = 0


class Visitor(socket.socket):
    """A socket that was accepted, and whose end the door hears of.

    Args:
        accepted: The socket.
        ended: Called once when it is closed.
    """

    def __init__(self, accepted: socket.socket, ended: Callable[[], None]) -> None:
        self._ended: Callable[[], None] | None = ended
        family, kind, protocol = accepted.family, accepted.type, accepted.proto
        super().__init__(family, kind, protocol, fileno=accepted.detach())

    def close(self) -> None:
        """Closes the socket."""
        super().close()
        ended, self._ended = self._ended, None
        if ended is not None:
            ended()


class Door(socket.socket):
    """A listening socket that decides whom it accepts.

    Args:
        listening: A socket that is bound; it is this one from now on.
        limits: What the link grants.
        room: How many sockets the process may have.
        turned_away: Told who was not let in.
    """

    def __init__(
        self, listening: socket.socket, limits: LinkLimits, room: Room, turned_away: TurnedAway
    ) -> None:
        family, kind, protocol = listening.family, listening.type, listening.proto
        super().__init__(family, kind, protocol, fileno=listening.detach())
        self._room = room
        self._turned_away = turned_away
        self._rate = limits.stranger_rate
        self._shares = Shares(min(limits.max_strangers, room.limit // 2), _NO_SIZE)
        self._strangers: dict[Address, str] = {}
        self._asking: set[Address] = set()
        """Those who have not become a WebSocket yet."""
        self._failed: dict[str, Bucket] = {}
        self._is_out = False
        self.count = 0
        """Connections that were accepted and are there."""

    def listen(self, backlog: int = BACKLOG, /) -> None:
        """Listens; the library asks for a queue as short as what it accepts in a turn."""
        super().listen(max(backlog, BACKLOG))

    def accept(self) -> tuple[socket.socket, Address]:
        """The next connection of somebody who may come in.

        Raises:
            BlockingIOError: If there is none, or no file for it until later.
            ConnectionAbortedError: If somebody was turned away.
            OSError: If the process or the system is out of files; told once, then it rests.
        """
        if self._is_out:
            # aiofastnet 1.2.0 goes on accepting after it has told that there are no files.
            self._is_out = False
            raise BlockingIOError
        try:
            accepted, address = super().accept()
        except OSError as error:
            self._is_out = error.errno in _OUT_OF
            raise
        host = network(shown(address))
        why = self._objection(host)
        if why is not None:
            accepted.close()
            self._turned_away(address[0], why)
            raise ConnectionAbortedError
        return self._let_in(accepted, address, host), address

    def remove_reader(self, descriptor: int) -> None:
        """Has the loop look away from this socket for a while.

        aiofastnet 1.2.0 asks the socket for this when there are no files left (`_accept_connection`
        in api_utils.py) where it means the loop; it looks again after a second by itself.
        """
        asyncio.get_running_loop().remove_reader(descriptor)

    def upgrade(self, address: Address) -> None:
        """Somebody's handshake is over."""
        self._asking.discard(address)

    def know(self, address: Address) -> None:
        """Somebody is no stranger any more."""
        host = self._strangers.pop(address, None)
        if host is not None:
            self._shares.remove(host, 1, 0)

    def _objection(self, host: str) -> str | None:
        """Why nobody may come in from an address now; None if somebody may."""
        if self._room.taken >= self._room.limit:
            return "files"
        if not self._shares.fits(host, 1, 0):
            return "strangers"
        failed = self._failed.get(host)
        if failed is not None and failed.left(monotonic()) < 1:
            return "rate"
        return None

    def _let_in(self, accepted: socket.socket, address: Address, host: str) -> Visitor:
        self._room.taken += 1
        self.count += 1
        self._asking.add(address)
        self._strangers[address] = host
        self._shares.add(host, 1, 0)
        return Visitor(accepted, lambda: self._left(address))

    def _left(self, address: Address) -> None:
        self._room.taken -= 1
        self.count -= 1
        if address in self._asking:
            self._asking.discard(address)
            self._turned_away(address[0], "handshake")
        host = self._strangers.get(address)
        if host is not None:
            self.know(address)
            self._note_failure(host, monotonic())

    def _note_failure(self, host: str, now: float) -> None:
        """Counts a connection that came to nothing."""
        if host not in self._failed:
            if len(self._failed) >= MAX_HOSTS:
                burst = self._rate * BURST_SECONDS
                used = {name: one for name, one in self._failed.items() if one.left(now) < burst}
                self._failed = used if len(used) < MAX_HOSTS else {}
            self._failed[host] = Bucket(self._rate * BURST_SECONDS, BURST_SECONDS)
        self._failed[host].spend(now)
