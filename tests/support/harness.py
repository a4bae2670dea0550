"""The harness of all transcripts: a session and its clients, held to the contract at every step.

A transcript of a protocol derives from `Harness` and adds what its clients say and hear. Where
the session runs is a `Place`: here a simulated machine without sockets and clocks, in
`tests/live/wired.py` a driver with real sockets.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, MutableMapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from support.contract import Checked, Observer
from wireloom.sim.ends import Visitor
from wireloom.sim.world import World
from wireloom.wire.session import (
    Close,
    Closed,
    Command,
    Conclude,
    Event,
    FrameReceived,
    Line,
    Opened,
    Send,
    Session,
    TimerFired,
    Turn,
    WakeAt,
)


class Remote:
    """A client at the other end of a line."""

    line: Line = 0
    """Its line, once it is connected."""

    closed: tuple[int, str] | None = None
    """The code and reason of the connection's end."""

    def takes(self, frame: Send) -> None:
        """A frame arrives."""
        raise NotImplementedError


R = TypeVar("R", bound=Remote)


class Place(Protocol):
    """Where a session runs."""

    now_ms: int

    @property
    def records(self) -> MutableMapping[tuple[str, str], bytes]:
        """What is stored, by kind and key."""

    def begins(self, session: Checked, observer: "Harness[Any]") -> None:
        """A life begins, with what the last one stored."""

    def crashes(self) -> None:
        """A life ends without a word."""

    def opens(self, peer: str, identity: str | None, token: str | None) -> None:
        """A client connects; the observer hears which line it has."""

    def carries(self, event: Event) -> None:
        """Lets something happen."""

    def passes(self, ms: int) -> None:
        """Lets time pass."""

    def settled(self) -> Iterator[Send]:
        """What arrived at clients, once nothing is under way; raises what went wrong."""


class Simulated:
    """A place without sockets.

    Args:
        now_ms: The time at the beginning.
    """

    def __init__(self, now_ms: int) -> None:
        self._world = World(now_ms)
        self._machine = self._world.add("server", "scenario")
        self._visitors: dict[Line, Visitor] = {}
        self._session: Checked | None = None

    @property
    def now_ms(self) -> int:
        return self._world.now_ms

    @now_ms.setter
    def now_ms(self, at_ms: int) -> None:
        self._world.clock.set(at_ms)

    @property
    def records(self) -> dict[tuple[str, str], bytes]:
        return self._machine.records.kept

    def begins(self, session: Checked, observer: "Harness[Any]") -> None:
        self._session = session
        self._machine.start(session)

    def crashes(self) -> None:
        self._machine.crash()

    def opens(self, peer: str, identity: str | None, token: str | None) -> None:
        visitor = self._machine.visit(peer, identity=identity, token=token)
        self._visitors[visitor.line] = visitor

    def carries(self, event: Event) -> None:
        match event:
            case FrameReceived(line, raw, text) if line in self._visitors:
                if self._visitors[line].is_up:
                    self._visitors[line].send(raw, text=text)
                else:
                    self._tells(event)
            case FrameReceived():
                self._tells(event)
            case Closed(line, code):
                self._visitors[line].leave(code)
            case _:
                self._machine.hear(event)

    def _tells(self, event: Event) -> None:
        """Tells the session of a frame on a line that is gone, which no world would do."""
        assert self._session is not None
        turn = Turn(self._session.ids, self.now_ms)
        self._session.handle(event, turn)
        assert all(isinstance(command, Conclude) for command in turn.commands)

    def passes(self, ms: int) -> None:
        self._world.pass_time(ms)

    def settled(self) -> Iterator[Send]:
        for line, visitor in self._visitors.items():
            while visitor.inbox:
                yield Send(line, *visitor.inbox.popleft())
        if self._machine.faults:
            raise self._machine.faults.pop(0)


class Harness(Observer, Generic[R]):
    """A session whose events and commands are written down.

    Args:
        make: Makes the session of a life, by its number.
        place: Where it runs.
    """

    def __init__(self, make: Callable[[int], Session], place: Place) -> None:
        self._make = make
        self.place = place
        self.lives = 0
        self.clients: dict[Line, R] = {}
        """Those whose connection is up."""
        self._everyone: dict[Line, R] = {}
        self._coming: R | None = None
        self.timers: dict[Hashable, int] = {}
        self.conclusions: deque[Conclude] = deque()
        self.commands: Sequence[Command] = ()
        """What the session wanted last; sends are single."""
        self.begins()

    @property
    def now_ms(self) -> int:
        return self.place.now_ms

    @now_ms.setter
    def now_ms(self, at_ms: int) -> None:
        self.place.now_ms = at_ms

    @property
    def stored(self) -> MutableMapping[tuple[str, str], bytes]:
        """What is stored, by kind and key."""
        return self.place.records

    def begins(self) -> None:
        """A life begins, with what was stored."""
        self.lives += 1
        self.session = self._make(self.lives)
        self.place.begins(Checked(self.session, self), self)
        self._take_in()

    def crashes(self, *, after_ms: int = 0) -> None:
        """The session dies without a word; another one begins later."""
        self.place.crashes()
        self._take_in()
        for client in self.clients.values():
            client.closed = client.closed or (1006, "crash")
        self.clients.clear()
        self.timers.clear()
        self.now_ms += after_ms
        self.begins()

    def connects(
        self, client: R, peer: str, *, identity: str | None = None, token: str | None = None
    ) -> None:
        """A client connects."""
        self._coming = client
        self.place.opens(peer, identity, token)
        self._take_in()

    def happens(self, event: Event) -> None:
        """Something happens, and all that it leads to."""
        self.place.carries(event)
        self._take_in()

    def passes(self, ms: int) -> None:
        """Time passes; timers fire when they are due."""
        self.place.passes(ms)
        self._take_in()

    def observes(self, event: Event | None, commands: Sequence[Command]) -> None:
        self.commands = commands
        match event:
            case Opened(line):
                assert self._coming is not None
                self._coming.line = line
                self.clients[line] = self._everyone[line] = self._coming
            case Closed(line):
                self.clients.pop(line, None)
            case TimerFired(timer):
                self.timers.pop(timer, None)
        for command in commands:
            self.notes(command)

    def notes(self, command: Command) -> None:
        """Writes down what the session wants."""
        match command:
            case Close(line, code, reason):
                self._everyone[line].closed = (code, reason)
            case WakeAt(timer, None):
                self.timers.pop(timer, None)
            case WakeAt(timer, int(at_ms)):
                self.timers[timer] = at_ms
            case Conclude():
                self.conclusions.append(command)

    def _take_in(self) -> None:
        for frame in self.place.settled():
            self._everyone[frame.line].takes(frame)
