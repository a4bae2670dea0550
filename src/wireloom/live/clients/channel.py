"""A client's connection: what leaves on it waits in a line, so that nobody else has to."""

import asyncio
from collections import deque

from wireloom.live.clients.sockets import Socket
from wireloom.wire.session import Close, Dial, Line, Send, Swarm

Taken = asyncio.Future[None]
"""Whoever waits until all that was put before has left."""


class ClientChannel:
    """One connection to a server.

    Args:
        socket: The connection.
        dial: What the session asked for.
    """

    def __init__(self, socket: Socket, dial: Dial) -> None:
        self.socket = socket
        self.dial: Dial | None = dial
        self.line: Line = 0
        self.protocol = ""
        self.link = dial.link
        self.peer = self.name = dial.address
        self.swarm: Swarm | None = None
        self.identity: str | None = None
        self.token: str | None = None
        self.is_admitted = True
        self.held: deque[tuple[int, Send | Close]] = deque()
        self._out: deque[tuple[bytes, bool] | Taken | Close] = deque()
        self._news = asyncio.Event()

    @property
    def unsent(self) -> list[bytes]:
        """Frames that have not left."""
        return [entry[0] for entry in self._out if isinstance(entry, tuple)]

    def put(self, raw: bytes, text: bool) -> None:  # noqa: FBT001, as performing calls it
        """Takes a frame that leaves as soon as it can."""
        self._append((raw, text))

    def close(self, code: int, reason: str) -> None:
        """Ends the connection, after what was put has left."""
        self._append(Close(self.line, code, reason))

    def admit(self) -> None:
        """Changes nothing: a client knows whom it called."""

    def when_taken(self, taken: Taken) -> None:
        """Settles a future once all that was put before has left; never, if it does not."""
        self._append(taken)

    def _append(self, entry: tuple[bytes, bool] | Taken | Close) -> None:
        self._out.append(entry)
        self._news.set()

    async def write(self) -> None:
        """Sends what was put, until the connection is closed.

        Raises:
            LostError: If the connection does not take a frame; it is still among `unsent`.
        """
        while True:
            while self._out:
                entry = self._out[0]
                if isinstance(entry, Close):
                    await self.socket.close(entry.code, entry.reason)
                    return
                if isinstance(entry, asyncio.Future):
                    if not entry.done():
                        entry.set_result(None)
                else:
                    await self.socket.send(entry[0], text=entry[1])
                self._out.popleft()
            self._news.clear()
            await self._news.wait()
