"""Runs one session: tells it what happened, and has performed what it wants.

The session hears of connections that came up or ended before anything else, so that it sends
nothing to a peer that is gone. Frames that came in on a connection behind one that ended it, it
does not hear. While the world cannot keep up, all else waits.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Final

from wireloom.performing.performer import Answer, Performer
from wireloom.performing.world import NS_PER_MS, Channel, Clock
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Close,
    Closed,
    Command,
    Conclude,
    Dial,
    DialFailed,
    Event,
    FrameReceived,
    FrameRefused,
    Line,
    Opened,
    Session,
    Store,
    TimerFired,
    Turn,
)

INTERNAL_ERROR: Final = 1011


class Runner:
    """One session and the events that it has not heard yet.

    Args:
        session: The session; `start` restores it.
        performer: Performs what it wants.
        clock: Tells the time of its turns.
        failed: Told of an event that the session failed to handle, and how.
        lines: Numbers of connections that no other one had in this life of the session.
    """

    def __init__(
        self,
        session: Session,
        performer: Performer,
        *,
        clock: Clock,
        failed: Callable[[Event, Exception], None],
        lines: Iterator[Line] | None = None,
    ) -> None:
        self._session = session
        self._performer = performer
        self._clock = clock
        self._failed = failed
        self._lines = count(1) if lines is None else lines
        self._turn = Turn(session.ids)
        self.inbox: Final[deque[Event]] = deque()
        """What happened. Whoever appends to it calls `catch_up` before the loop's turn ends."""
        self._ends: deque[Opened | Closed] = deque()
        """Connections that came up or ended; they are heard of first."""
        self._is_working = False
        self.is_paused = False
        """Whether the world cannot keep up: only beginnings and ends are heard, no timer fires."""

    @property
    def is_behind(self) -> bool:
        """Whether the session could hear something that it has not heard."""
        return bool(self._ends or (self.inbox and not self.is_paused))

    def start(self, records: Iterable[Store]) -> None:
        """Gives the session back what an earlier life stored."""
        now_ns = self._clock.now_ns()
        commands = self._turn.begin(now_ns // NS_PER_MS)
        self._session.restore(records, self._turn)
        self._performer.perform([(commands, None, b"")], now_ns)

    def open(self, channel: Channel) -> bool:
        """A connection came up; returns whether it is wanted. `catch_up` comes next."""
        channel.line = next(self._lines)
        channel.protocol = self._performer.protocol
        if not self._performer.add(channel):
            return False
        self._ends.append(
            Opened(
                channel.line,
                channel.peer,
                channel.identity,
                channel.token,
                channel.dial,
                channel.link,
            )
        )
        return True

    def end(self, channel: Channel, code: int, reason: str = "") -> bool:
        """A connection ended; returns whether that is news. `catch_up` comes next.

        A world may tell of an end in the middle of an answer that demanded it.
        """
        if not self._performer.drop(channel):
            return False
        self._ends.append(Closed(channel.line, code, reason))
        return True

    def fail(self, dial: Dial, reason: str) -> None:
        """A peer could not be reached."""
        if self._performer.fail(dial):
            self.hear(DialFailed(dial, reason))

    def hear(self, event: Event) -> None:
        """Something happened, after all that came before it."""
        self.inbox.append(event)
        self.catch_up()

    def catch_up(self) -> bool:
        """Handles all that happened, unless that is being done; returns whether it did."""
        if self._is_working or not (self.inbox or self._ends):
            return False
        self._is_working = True
        try:
            now_ns = self._clock.now_ns()
            self._performer.perform(self._answers(now_ns // NS_PER_MS), now_ns)
        finally:
            self._is_working = False
        return True

    def release(self, ticket: int) -> None:
        """All records up to this ticket are kept: what waited for them is performed."""
        self._performer.release(ticket, self._clock.now_ns())

    def fire(self, most: int) -> None:
        """Tells the session of timers that are due, of so many at most."""
        if self.is_paused:
            return
        now_ms = self._clock.now_ns() // NS_PER_MS
        for number, timer in enumerate(self._performer.due_timers(now_ms), 1):
            self.hear(TimerFired(timer))
            if number == most:
                return

    def next_timer_ms(self) -> int | None:
        """When `fire` has something to do; None while it has not."""
        return None if self.is_paused else self._performer.next_timer_ms()

    def _answers(self, now_ms: int) -> Iterator[Answer]:
        """What the session answers to all that happened; each is performed before the next."""
        handle, inbox, ends = self._session.handle, self.inbox, self._ends
        find, turn = self._performer.find, self._turn
        while ends or (inbox and not self.is_paused):
            event = ends.popleft() if ends else inbox.popleft()
            source, raw = None, b""
            if type(event) is FrameReceived:
                raw = event.raw
                source = find(event.line)
                if source is None:
                    continue
            elif type(event) is FrameRefused:
                raw, source = event.head, find(event.line)
            commands: Sequence[Command] = turn.begin(now_ms)
            try:
                handle(event, turn)
            except Exception as error:
                self._failed(event, error)
                commands = _apology(event)
            yield commands, source, raw


def _apology(event: Event) -> Sequence[Command]:
    """What is done about an event that the session failed on."""
    if isinstance(event, FrameReceived | FrameRefused):
        return (
            Close(event.line, INTERNAL_ERROR, "internal error"),
            Conclude(Outcome.REJECTED, Reason.INTERNAL),
        )
    return ()
