"""A server between a client and an S3 server that can fail the way such servers fail.

It passes on what comes, request by request, until it is told to do otherwise.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import Final

_REASON: Final = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"
_BUSY: Final = (
    b"HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_REASON), _REASON)
)


class Mood(Enum):
    """What becomes of requests."""

    WELL = auto()
    BUSY = auto()
    """Each is answered 503."""

    DROPPING = auto()
    """Connections end without an answer."""

    CUTTING = auto()
    """Answers end after their first bytes."""


class Faults:
    """The server.

    Args:
        behind: The port of the S3 server.
    """

    def __init__(self, behind: int) -> None:
        self._behind = behind
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._mood, self._left, self._skip = Mood.WELL, 0, 0
        self._turn = threading.Lock()
        self._open: set[socket.socket] = set()
        self.port = int(self._listening.getsockname()[1])
        self.failed = 0
        """How many requests were failed."""

        self.requests: list[str] = []
        """The first lines of all that came."""

    def fail(self, mood: Mood, *, times: int = 1_000_000, skip: int = 0) -> None:
        """Fails so many requests after some that are well; then all is well again."""
        with self._turn:
            self._mood, self._left, self._skip = mood, times, skip

    def heal(self) -> None:
        """All is well from now on."""
        self.fail(Mood.WELL)

    def run(self) -> None:
        """Serves until it is closed."""
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def close(self) -> None:
        """Ends it and all connections."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for one in list(self._open):
            _end(one)

    def _serve(self, client: socket.socket) -> None:
        """One request; the server behind is asked to close the connection after it."""
        self._open.add(client)
        with suppress(OSError), client:
            if head := _head(client):
                self.requests.append(head.split(b"\r\n", 1)[0].decode("latin-1"))
                mood = self._next()
                if mood is Mood.BUSY:
                    client.sendall(_BUSY)
                elif mood is not Mood.DROPPING:
                    self._pass_on(client, head, is_cut=mood is Mood.CUTTING)
            _end(client)
        self._open.discard(client)

    def _next(self) -> Mood:
        with self._turn:
            if self._skip:
                self._skip -= 1
                return Mood.WELL
            if self._mood is Mood.WELL or not self._left:
                return Mood.WELL
            self._left -= 1
            self.failed += 1
            return self._mood

    def _pass_on(self, client: socket.socket, head: bytes, *, is_cut: bool) -> None:
        with socket.create_connection(("127.0.0.1", self._behind)) as server:
            server.sendall(head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
            back = threading.Thread(target=_copy, args=(client, server), daemon=True)
            back.start()
            if is_cut:
                client.sendall(server.recv(65_536)[:-16])
            else:
                while data := server.recv(65_536):
                    client.sendall(data)
        _end(client)
        back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)


def _head(client: socket.socket) -> bytes:
    """A request up to what follows its fields, and what has come of that."""
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(65_536)
        if not data:
            return b""
        head += data
    return head


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)


@contextmanager
def between(behind: int) -> Iterator[Faults]:
    """Such a server, running."""
    faults = Faults(behind)
    running = threading.Thread(target=faults.run, daemon=True)
    running.start()
    yield faults
    faults.close()
    running.join()
