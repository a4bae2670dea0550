"""Does what a session wants: commands become frames, records and timers.

What follows a `Store` in an answer waits until the record is on disk, and on a connection where
something waits, later frames wait behind it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from wireloom.live.journal import note
from wireloom.live.links.connection import Connection
from wireloom.live.metrics import Meters
from wireloom.live.rows import COMPOSED, LEFT, Absent, Rows, came
from wireloom.live.store import RecordStore
from wireloom.live.tap import Tap
from wireloom.live.timers import Timers
from wireloom.live.waiting import Waiting
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import (
    UNCONCLUDED,
    Admit,
    Close,
    Command,
    Compose,
    Conclude,
    Deliver,
    Forget,
    Line,
    Send,
    Spread,
    Store,
    WakeAt,
)

Answer = tuple[Sequence[Command], Connection | None, bytes]
"""Commands; and if they answer a frame, where it came from, and its bytes."""

STRANGER_CAPTURED: Final = 4 * 1024
"""Bytes of a frame that are captured while the session does not know who sent it: whoever connects
shall not fill the disk."""

MAX_TURN_BYTES: Final = 16 * 1024 * 1024
"""When frames and records have so many bytes, they leave before the next answer is performed: what
waits for the end of a turn has a bound."""

_REMEMBERED: Final = 16
"""Spreads whose connections are remembered; all are forgotten when there are more."""


class Performer:
    """Performs the commands of one session.

    Args:
        protocol: What it speaks.
        store: Where it keeps what must survive.
        tap: Where frames are captured, if they are.
        meters: Where things are counted.
        deliver: Takes what the session delivers.
        let_out: Writes all that was put, in the middle of a turn.
    """

    def __init__(
        self,
        protocol: str,
        *,
        store: RecordStore,
        tap: Tap | None,
        meters: Meters,
        deliver: Callable[[object], None],
        let_out: Callable[[], None],
    ) -> None:
        self._protocol = protocol
        self._store = store
        self._tap = tap
        self._meters = meters
        self._deliver = deliver
        self._let_out = let_out
        self.connections: dict[int, Connection] = {}
        """Those on which frames may leave, by line."""
        self.spoke: set[Connection] = set()
        """Those whose frames were answered; whoever lets frames out clears it."""
        self.waiting = Waiting()
        self.timers = Timers()
        self._reached: dict[int, tuple[Sequence[Line], list[Connection]]] = {}
        """Connections of the latest spreads, by the identity of their lines."""
        self._admitted: list[Connection] = []
        """Those who have said who they are, and whose names are told next."""

        self._tally: Counter[Conclude] = Counter()
        """Conclusions of one turn; most are the same, and so quickly counted."""

        self._size = 0
        """Bytes that were put since something was let out."""

    def begin(self) -> None:
        """All that was put has left: a turn begins."""
        self.spoke.clear()
        self._size = 0

    def drop(self, connection: Connection) -> bool:
        """Lets nothing more leave on a connection; gives whether anything could."""
        self._reached.clear()
        self.waiting.forget(connection)
        return self.connections.pop(connection.line, None) is not None

    def perform(self, answers: Iterable[Answer], now: int) -> None:
        """Performs commands in their order; `now` in ns is when."""
        find = self.connections.get
        rows = None if self._tap is None else self._tap.rows
        sent: list[Outcome | None] = []
        sources: list[Connection] = []
        size = 0
        concluded: list[Conclude] = []
        for commands, source, raw in answers:
            ticket = 0
            conclusion: Conclude | None = None
            size += len(raw)
            for command in commands:
                if type(command) is Send:
                    connection = find(command.line)
                    if connection is None or ticket or connection.held:
                        self._put(command, ticket)
                        continue
                    frame = command.raw
                    size += len(frame)
                    connection.put(frame, command.text)
                    sent.append(command.outcome)
                    if rows is not None:
                        rows.add(connection, LEFT[command.outcome], frame)
                elif type(command) is Conclude:
                    conclusion = conclusion or command
                else:
                    ticket = self._perform_other(command, ticket) or ticket
            if source is not None:
                conclusion = conclusion or UNCONCLUDED
                sources.append(source)
                concluded.append(conclusion)
                if rows is not None:
                    shown = raw if source.is_admitted else raw[:STRANGER_CAPTURED]
                    rows.add(source, came(conclusion), shown)
            if size + self._size > MAX_TURN_BYTES:
                size = 0
                rows = self._relieve(sources, now)
        self._size += size
        self._meters.sent.update(sent)
        self._conclude(sources, concluded)
        self._stamp(now)

    def _relieve(self, sources: list[Connection], now: int) -> Rows | None:
        """Lets out what was put so far, and to those who spoke last; gives where rows go now."""
        self.spoke.update(sources)
        self._stamp(now)
        self._size = 0
        self._let_out()
        return None if self._tap is None else self._tap.rows

    def release(self, ticket: int, now: int) -> None:
        """Performs what waited for records up to this ticket."""
        for connection, command in self.waiting.commands(ticket):
            self._release(connection, command)
            if self._size > MAX_TURN_BYTES:
                self._relieve([], now)
        for item in self.waiting.items(ticket):
            self._deliver(item)
        self._stamp(now)

    def _stamp(self, now: int) -> None:
        """Says of all rows so far when they were."""
        if self._tap is not None:
            self._tap.rows.at(now)

    def _spread(self, spread: Spread, ticket: int) -> None:
        """Performs many sends, with as little as can be done for each."""
        lines, frames, text, outcome = spread.lines, spread.raws, spread.text, spread.outcome
        known = self._reached.get(id(lines))
        reached = self._reach(lines) if known is None else known[1]
        behind = self.waiting.connections
        if ticket or not reached or (behind and not behind.isdisjoint(reached)):
            for line, frame in zip(lines, frames, strict=True):
                self._put(Send(line, frame, text, outcome), ticket)
            return
        for connection, frame in zip(reached, frames, strict=True):
            connection.put(frame, text)
        self._size += sum(map(len, frames))
        self._meters.sent[outcome] += len(frames)
        if self._tap is not None:
            self._tap.rows.add_all(reached, LEFT[outcome], frames)

    def _reach(self, lines: Sequence[Line]) -> list[Connection]:
        """The connections of all these lines; none if somebody has gone."""
        try:
            reached = [self.connections[line] for line in lines]
        except KeyError:
            return []
        if len(self._reached) >= _REMEMBERED:
            self._reached.clear()
        self._reached[id(lines)] = lines, reached
        return reached

    def _put(self, command: Send | Close, ticket: int) -> None:
        connection = self.connections.get(command.line)
        if connection is not None and (ticket or connection.held):
            self.waiting.add(connection, ticket, command)
        elif connection is not None:
            self._release(connection, command)

    def _perform_other(self, command: Command, ticket: int) -> int:
        """Performs a command that is none of the two frequent ones; gives a ticket of its own."""
        match command:
            case Spread():
                self._spread(command, ticket)
            case Store(kind, key, value):
                self._size += len(value)
                return self._store.put((self._protocol, kind, key), value)
            case Forget(kind, key):
                return self._store.put((self._protocol, kind, key), None)
            case WakeAt(timer, at_ms):
                self.timers.set(timer, at_ms)
            case Close():
                self._put(command, ticket)
            case Admit(line) if line in self.connections:
                self.connections[line].admit()
                self._admitted.append(self.connections[line])
            case Compose(raw, peer) if self._tap is not None:
                self._tap.rows.add(Absent(self._protocol, peer), COMPOSED, raw)
            case Deliver(item) if ticket or self.waiting.has_items:
                self.waiting.add_item(ticket, item)
            case Deliver(item):
                self._deliver(item)
        return 0

    def _conclude(self, sources: list[Connection], concluded: list[Conclude]) -> None:
        """Notes who spoke and what became of what they said."""
        self.spoke.update(sources)
        tally, received = self._tally, self._meters.received
        tally.update(concluded)
        for conclusion, count in tally.items():
            received[conclusion.type, conclusion.outcome, conclusion.reason] += count
        tally.clear()
        for source, conclusion in zip(sources, concluded, strict=True):
            if conclusion.peer is not None:
                source.name = conclusion.peer
        if self._admitted:
            for one in self._admitted:
                note("login", protocol=self._protocol, name=one.name, peer=one.peer)
            self._admitted.clear()

    def _release(self, connection: Connection, command: Send | Close) -> None:
        if isinstance(command, Close):
            connection.close(command.code, command.reason)
            return
        connection.put(command.raw, command.text)
        self._meters.sent[command.outcome] += 1
        if self._tap is not None:
            self._tap.rows.add(connection, LEFT[command.outcome], command.raw)
        self._size += len(command.raw)
