'''The harness of all transcripts: a session and its clients, held to the contract at every step.

A transcript lets clients connect, send and leave, lets time pass, and looks at what arrived. The
commands of the session are performed by the rules of `wireloom.performing`, and checked against the
contract of `wire/session.py` before that (`support/contract.py`).

A new protocol has two classes in `tests/protocols/<name>/transcript.py`: its clients, and the
harness that makes its session:

    class Client(Remote):
        """A client; it speaks by `happens`, and takes what arrives."""

        def __init__(self, transcript: "Transcript") -> None:
            self.transcript = transcript
            self.heard: list[Message] = []

        def says(self, message: Message) -> None:
            self.transcript.happens(FrameReceived(self.line, encode(message)))

        def takes(self, frame: Send) -> None:
            self.heard.append(decode(frame.raw))


    class Transcript(Harness[Client]):
        """A server and its clients."""

        def __init__(self, *, place: Place | None = None) -> None:
            super().__init__(self._made, place or Simulated(BEGIN_MS))

        def _made(self, life: int) -> Session:
            return ServerSession(SETTINGS, Ids(f"life {life}"))

        def client(self, peer: str = "192.0.2.1:1") -> Client:
            return self.connects(Client(self), peer)

Where the session runs is a `Place`. `Simulated` has no sockets and a clock of its own;
`live.wired.Wired` is a driver with real sockets, on which the same tests run once more (see
`tests/live/test_hub_scenarios.py`).
'''

from collections import deque
from collections.abc import Callable, Hashable, Iterator, MutableMapping, Sequence
from typing import Generic, Protocol, TypeVar

from support.contract import Checked
from wireloom.sim.ends import ABNORMAL, Visitor
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
    """The code and reason with which the session has closed the line."""

    def takes(self, frame: Send) -> None:
        """A frame arrives."""
        raise NotImplementedError


R = TypeVar("R", bound=Remote)


class Place(Protocol):
    """Where a session runs."""

    now_ms: int

    @property
    def stored(self) -> MutableMapping[tuple[str, str], bytes]:
        """What is stored, by kind and key."""

    def begins(self, session: Session) -> None:
        """A life begins, with what the last one stored."""

    def crashes(self) -> None:
        """A life ends without a word."""

    def opens(self, peer: str, identity: str | None, token: str | None) -> None:
        """A client connects; the session hears which line it has."""

    def carries(self, event: Event) -> None:
        """A client sends or leaves, or the session hears of something else."""

    def passes(self, ms: int) -> None:
        """Time passes; timers fire when they are due."""

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
        self._session: Session | None = None

    @property
    def now_ms(self) -> int:
        return self._world.now_ms

    @now_ms.setter
    def now_ms(self, at_ms: int) -> None:
        self._world.clock.set(at_ms)

    @property
    def stored(self) -> dict[tuple[str, str], bytes]:
        return self._machine.records.kept

    def begins(self, session: Session) -> None:
        self._session = session
        self._machine.start(session)

    def crashes(self) -> None:
        self._machine.crash()

    def opens(self, peer: str, identity: str | None, token: str | None) -> None:
        visitor = self._machine.visit(peer, identity=identity, token=token)
        self._visitors[visitor.line] = visitor

    def carries(self, event: Event) -> None:
        match event:
            case FrameReceived(line, raw, text) if self._visitors[line].is_up:
                self._visitors[line].send(raw, text=text)
            case FrameReceived():
                self._tells_late(event)
            case Closed(line, code):
                self._visitors[line].leave(code)
            case _:
                self._machine.hear(event)

    def _tells_late(self, event: FrameReceived) -> None:
        """The session hears of a frame on a line that is gone, which no world tells it."""
        assert self._session is not None
        turn = Turn(self._session.ids, self.now_ms)
        self._session.handle(event, turn)
        assert all(isinstance(command, Conclude) for command in turn.commands)

    def passes(self, ms: int) -> None:
        self._world.pass_time(ms)

    def settled(self) -> Iterator[Send]:
        if self._machine.faults:
            raise self._machine.faults.pop(0)
        for line, visitor in self._visitors.items():
            while visitor.inbox:
                yield Send(line, *visitor.inbox.popleft())


class Harness(Generic[R]):
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

        self.everyone: dict[Line, R] = {}
        """All that were ever connected."""

        self.timers: dict[Hashable, int] = {}
        """When each timer is due."""

        self.conclusions: deque[Conclude] = deque()
        """What became of frames."""

        self.commands: Sequence[Command] = ()
        """What the session wanted last; sends are single."""

        self._next: R | None = None
        self.begins()

    @property
    def now_ms(self) -> int:
        """The time; it may be set, and then no timer fires."""
        return self.place.now_ms

    @now_ms.setter
    def now_ms(self, at_ms: int) -> None:
        self.place.now_ms = at_ms

    @property
    def stored(self) -> MutableMapping[tuple[str, str], bytes]:
        """What is stored, by kind and key."""
        return self.place.stored

    # What happens.

    def begins(self) -> None:
        """A life begins, with what was stored."""
        self.lives += 1
        self.session = self._make(self.lives)
        self.place.begins(Checked(self.session, self.observes))
        self._take_in()

    def crashes(self, *, after_ms: int = 0) -> None:
        """The session dies without a word; another one begins later."""
        self.place.crashes()
        self._take_in()
        for client in self.clients.values():
            client.closed = client.closed or (ABNORMAL, "")
        self.clients.clear()
        self.timers.clear()
        self.now_ms += after_ms
        self.begins()

    def connects(
        self, client: R, peer: str, *, identity: str | None = None, token: str | None = None
    ) -> R:
        """A client connects."""
        self._next = client
        self.place.opens(peer, identity, token)
        self._take_in()
        return client

    def happens(self, event: Event) -> None:
        """Something happens, and all that it leads to."""
        self.place.carries(event)
        self._take_in()

    def passes(self, ms: int) -> None:
        """Time passes; timers fire when they are due."""
        self.place.passes(ms)
        self._take_in()

    def _take_in(self) -> None:
        for frame in self.place.settled():
            self.everyone[frame.line].takes(frame)

    # What is written down.

    def observes(self, event: Event | None, commands: Sequence[Command]) -> None:
        """Writes down an event and what the session wants then."""
        self.commands = commands
        match event:
            case Opened(line):
                assert self._next is not None
                self._next.line = line
                self.clients[line] = self.everyone[line] = self._next
            case Closed(line):
                self.clients.pop(line, None)
            case TimerFired(timer):
                self.timers.pop(timer, None)
        for command in commands:
            self.notes(command)

    def notes(self, command: Command) -> None:
        """Writes down a command."""
        match command:
            case Close(line, code, reason):
                self.everyone[line].closed = (code, reason)
            case WakeAt(timer, None):
                self.timers.pop(timer, None)
            case WakeAt(timer, int(at_ms)):
                self.timers[timer] = at_ms
            case Conclude():
                self.conclusions.append(command)
