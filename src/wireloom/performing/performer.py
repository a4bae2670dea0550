"""Does what a session wants: commands become frames, records and timers.

What follows a `Store` in an answer waits until the record is kept, and on a connection where
something waits, later frames wait behind it.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from wireloom.capture.meanings import COMPOSED, SENT, Absent, meaning_of
from wireloom.performing.dials import Dials
from wireloom.performing.timers import Timers
from wireloom.performing.waiting import Waiting
from wireloom.performing.world import Channel, Connections, Counts, Records, Rows, Tap, Workers
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import (
    UNCONCLUDED,
    Abandon,
    Admit,
    Cancel,
    Close,
    Command,
    Compose,
    Compute,
    Conclude,
    Deliver,
    Dial,
    Forget,
    Line,
    Send,
    Spread,
    Store,
    WakeAt,
)

C = TypeVar("C", bound=Channel)

Answer = tuple[Sequence[Command], Channel | None, bytes]
"""Commands; and if they answer a frame, where it came from, and its bytes."""

STRANGER_CAPTURED: Final = 12 * 1024
"""Bytes of a frame that are captured while the session does not know who sent it: whoever connects
shall not fill the disk. What comes in datagrams fits, since it would pass for another message if it
were cut short."""

MAX_TURN_BYTES: Final = 16 * 1024 * 1024
"""When frames and records have so many bytes, they leave before the next answer is performed: what
waits for the end of a turn has a bound."""

NORMAL: Final = 1000

_REMEMBERED: Final = 16
"""Spreads whose connections are remembered; all are forgotten when there are more."""


class Performer:
    """Performs the commands of one session, and keeps what they leave behind.

    Args:
        protocol: What the session speaks.
        connections: Reaches peers, and lets frames out.
        records: Where the session keeps what must survive.
        tap: Where frames are captured, if they are.
        counts: Where frames are counted.
        deliver: Takes what the session delivers.
        workers: Who computes what takes long, if the session asks for that.
    """

    def __init__(  # noqa: PLR0913
        self,
        protocol: str,
        *,
        connections: Connections,
        records: Records,
        tap: Tap | None,
        counts: Counts,
        deliver: Callable[[object], None],
        workers: Workers | None = None,
    ) -> None:
        self.protocol = protocol
        self._connections = connections
        self._records = records
        self._tap = tap
        self._counts = counts
        self._deliver = deliver
        self._workers = workers
        self._channels: dict[Line, Channel] = {}
        self.find: Final = self._channels.get
        """The connection of a line, while frames may leave on it."""
        self._waiting = Waiting()
        self._timers = Timers()
        self.next_timer_ms: Final = self._timers.next_at
        """When the next timer is due."""
        self._dials = Dials()
        self._sources: set[Channel] = set()
        """Connections whose frames were answered in this turn."""
        self._reached: dict[int, tuple[Sequence[Line], list[Channel]]] = {}
        """Connections of the latest spreads, by the identity of their lines."""
        self._admitted: list[Channel] = []
        """Peers that have said who they are, and whose names are told next."""

        self._tally: Counter[Conclude] = Counter()
        """Conclusions of one turn; most are the same, and so quickly counted."""

        self._size = 0
        """Bytes that were put since something was let out."""

    # What there is.

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The connections on which frames may leave."""
        return tuple(self._channels.values())

    @property
    def held_count(self) -> int:
        """How many commands wait for records."""
        return len(self._waiting)

    @property
    def held_size(self) -> int:
        """How many bytes of frames wait for records."""
        return self._waiting.size

    @property
    def timer_count(self) -> int:
        """How many timers are set."""
        return len(self._timers)

    def due_timers(self, now_ms: int) -> Iterator[Hashable]:
        """The timers that are due, earliest first; each is gone once it is given."""
        return self._timers.due(now_ms)

    # Connections.

    def add(self, channel: Channel) -> bool:
        """Takes a new connection; returns whether it is wanted."""
        if channel.dial is not None and not self._dials.reach(channel.dial, channel):
            return False
        self._channels[channel.line] = channel
        return True

    def drop(self, channel: Channel) -> bool:
        """Lets nothing more leave on a connection; returns whether anything could."""
        self._reached.clear()
        self._waiting.forget(channel)
        self._dials.drop(channel)
        return self._channels.pop(channel.line, None) is not None

    def fail(self, dial: Dial) -> bool:
        """A peer was not reached; returns whether it was still wanted."""
        return self._dials.fail(dial)

    # Turns.

    def begin(self) -> None:
        """All that was put has left: a turn begins."""
        self._sources.clear()
        self._size = 0

    def in_order(self, channels: Iterable[C]) -> list[C]:
        """The order in which connections let frames out: who spoke is answered last.

        When a sender hears what became of a message, it has left for its receiver, whatever
        happens to this process in between.
        """
        return sorted(channels, key=self._sources.__contains__)

    def perform(self, answers: Iterable[Answer], now_ns: int) -> None:
        """Performs commands in their order; `now_ns` is when."""
        find = self.find
        rows = None if self._tap is None else self._tap.rows
        sent: list[Outcome | None] = []
        sources: list[Channel] = []
        size = 0
        concluded: list[Conclude] = []
        for commands, source, raw in answers:
            ticket = 0
            conclusion: Conclude | None = None
            size += len(raw)
            for command in commands:
                if type(command) is Send:
                    channel = find(command.line)
                    if channel is None or ticket or channel.held:
                        self._put(command, ticket)
                        continue
                    frame = command.raw
                    size += len(frame)
                    channel.put(frame, command.text)
                    sent.append(command.outcome)
                    whole = command.whole
                    if rows is not None and whole != b"":
                        rows.add(channel, SENT[command.outcome], whole or frame)
                elif type(command) is Conclude:
                    conclusion = conclusion or command
                else:
                    ticket = self._perform_other(command, ticket) or ticket
            if source is not None:
                conclusion = conclusion or UNCONCLUDED
                sources.append(source)
                concluded.append(conclusion)
                whole = conclusion.whole
                if rows is not None and whole != b"":
                    frame = whole or raw
                    shown = frame if source.is_admitted else frame[:STRANGER_CAPTURED]
                    rows.add(source, meaning_of(conclusion), shown)
            if size + self._size > MAX_TURN_BYTES:
                size = 0
                rows = self._relieve(sources, now_ns)
        self._size += size
        self._counts.sent.update(sent)
        self._conclude(sources, concluded)
        self._stamp(now_ns)

    def _relieve(self, sources: list[Channel], now_ns: int) -> Rows | None:
        """Lets out what was put so far; returns where rows go now."""
        self._sources.update(sources)
        self._stamp(now_ns)
        self._size = 0
        self._connections.let_out()
        return None if self._tap is None else self._tap.rows

    def release(self, ticket: int, now_ns: int) -> None:
        """Performs what waited for records up to this ticket."""
        for channel, command in self._waiting.commands(ticket):
            self._release(channel, command)
            if self._size > MAX_TURN_BYTES:
                self._relieve([], now_ns)
        for item in self._waiting.items(ticket):
            self._deliver(item)
        self._stamp(now_ns)

    def _stamp(self, now_ns: int) -> None:
        """Says of all rows so far when they were."""
        if self._tap is not None:
            self._tap.rows.at(now_ns)

    # Commands.

    def _perform_other(self, command: Command, ticket: int) -> int:
        """Performs a command that is none of the two frequent ones; returns its own ticket."""
        match command:
            case Spread():
                self._spread(command, ticket)
            case Store(kind, key, value):
                self._size += len(value)
                return self._records.put((self.protocol, kind, key), value)
            case Forget(kind, key):
                return self._records.put((self.protocol, kind, key), None)
            case WakeAt(timer, at_ms):
                self._timers.set(timer, at_ms)
            case Close():
                self._put(command, ticket)
            case Deliver(item):
                self._hand_over(item, ticket)
            case _:
                self._perform_rare(command, ticket)
        return 0

    def _perform_rare(self, command: Command, ticket: int) -> None:
        match command:
            case Admit(line):
                self._admit(line)
            case Compose(raw, peer, swarm) if self._tap is not None:
                self._tap.rows.add(Absent(self.protocol, peer, swarm=swarm), COMPOSED, raw)
            case Dial():
                if self._dials.begin(command):
                    self._connections.dial(command)
            case Abandon(link, address):
                self._abandon(Dial(link, address), ticket)
            case Compute() if self._workers is not None:
                self._workers.compute(command)
            case Cancel(task) if self._workers is not None:
                self._workers.cancel(task)

    def _spread(self, spread: Spread, ticket: int) -> None:
        """Performs many sends, with as little as can be done for each."""
        lines, frames, text, outcome = spread.lines, spread.raws, spread.text, spread.outcome
        known = self._reached.get(id(lines))
        reached = self._reach(lines) if known is None else known[1]
        behind = self._waiting.channels
        if ticket or not reached or (behind and not behind.isdisjoint(reached)):
            for line, frame in zip(lines, frames, strict=True):
                self._put(Send(line, frame, text, outcome, spread.whole), ticket)
            return
        for channel, frame in zip(reached, frames, strict=True):
            channel.put(frame, text)
        self._size += sum(map(len, frames))
        self._counts.sent[outcome] += len(frames)
        if self._tap is not None and spread.whole != b"":
            shown = frames if spread.whole is None else (spread.whole,) * len(frames)
            self._tap.rows.add_all(reached, SENT[outcome], shown)

    def _reach(self, lines: Sequence[Line]) -> list[Channel]:
        """The connections of all these lines; none if somebody has gone."""
        try:
            reached = [self._channels[line] for line in lines]
        except KeyError:
            return []
        if len(self._reached) >= _REMEMBERED:
            self._reached.clear()
        self._reached[id(lines)] = lines, reached
        return reached

    def _put(self, command: Send | Close, ticket: int) -> None:
        channel = self.find(command.line)
        if channel is not None and (ticket or channel.held):
            self._waiting.add(channel, ticket, command)
        elif channel is not None:
            self._release(channel, command)

    def _release(self, channel: Channel, command: Send | Close) -> None:
        if isinstance(command, Close):
            channel.close(command.code, command.reason)
            return
        channel.put(command.raw, command.text)
        self._counts.sent[command.outcome] += 1
        if self._tap is not None and command.whole != b"":
            self._tap.rows.add(channel, SENT[command.outcome], command.whole or command.raw)
        self._size += len(command.raw)

    def _hand_over(self, item: object, ticket: int) -> None:
        """Delivers an item, behind those that wait for records."""
        if ticket or self._waiting.has_items:
            self._waiting.add_item(ticket, item)
        else:
            self._deliver(item)

    def _admit(self, line: Line) -> None:
        channel = self.find(line)
        if channel is not None:
            channel.admit()
            self._admitted.append(channel)

    def _abandon(self, dial: Dial, ticket: int) -> None:
        """Ends an attempt, or the connection that came of it."""
        channel = self._dials.connection(dial)
        if channel is not None:
            self._put(Close(channel.line, NORMAL, "not needed"), ticket)
        elif self._dials.fail(dial):
            self._connections.abandon(dial)

    def _conclude(self, sources: list[Channel], concluded: list[Conclude]) -> None:
        """Notes who spoke and what became of what they said."""
        self._sources.update(sources)
        tally, received = self._tally, self._counts.received
        tally.update(concluded)
        for conclusion, count in tally.items():
            received[conclusion.type, conclusion.outcome, conclusion.reason] += count
        tally.clear()
        for source, conclusion in zip(sources, concluded, strict=True):
            if conclusion.peer is not None:
                source.name = conclusion.peer
        if self._admitted:
            for channel in self._admitted:
                self._connections.admitted(channel)
            self._admitted.clear()
