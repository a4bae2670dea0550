"""Runs a session on links: bytes become events, commands become bytes.

Everything happens on one event loop. What a session answers is performed at once, except
for what leaves the process: frames are put to their connections and written together when
the turn of the loop ends, and what follows a `Store` in its answer waits until the record
is on disk. On a connection where something waits, later frames wait behind it.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter, time_ns
from typing import Final

from wireloom.live.alarm import Alarm
from wireloom.live.links.connection import Connection
from wireloom.live.metrics import Meters
from wireloom.live.pressure import TICK_SECONDS, Pressure
from wireloom.live.store import RecordStore
from wireloom.live.tap import CAME, LEFT, Tap
from wireloom.live.timers import Timers
from wireloom.live.waiting import Waiting
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    UNCONCLUDED,
    Alive,
    Close,
    Closed,
    Command,
    Conclude,
    Deliver,
    Event,
    Forget,
    FrameReceived,
    Opened,
    Requested,
    Send,
    Session,
    Spread,
    Stopping,
    Store,
    TimerFired,
    WakeAt,
    make,
)

INTERNAL_ERROR: Final = 1011
GOING_AWAY: Final = 1001
MAX_TIMERS_A_TURN: Final = 256
"""Timers that are due wait for others' frames after so many."""

_NS_PER_MS: Final = 1_000_000
_log: Final = logging.getLogger(__name__)


class Driver:
    """One session and its connections.

    Args:
        protocol: What it speaks.
        session: The session; `start` restores it.
        store: Where it keeps what must survive.
        tap: Where frames are captured, if they are.
        meters: Where things are counted.
        deliver: Takes what the session delivers.
    """

    def __init__(
        self,
        protocol: str,
        session: Session,
        *,
        store: RecordStore,
        tap: Tap | None = None,
        meters: Meters | None = None,
        deliver: Callable[[object], None] = lambda _: None,
    ) -> None:
        self._protocol = protocol
        self._session = session
        self._store = store
        self._tap = tap
        self._deliver = deliver
        self._meters = meters or Meters()
        self._loop = asyncio.get_running_loop()
        self._connections: dict[int, Connection] = {}
        self._sockets: set[Connection] = set()
        self._ended: deque[Closed] = deque()
        self._next_line = 1
        self._turn: list[Connection] = []
        self._spoke: set[Connection] = set()
        self._turn_began_at: float | None = None
        self._waiting = Waiting()
        self._timers = Timers()
        self._alarm = Alarm(self._ring)
        self._pressure = Pressure(self.stalled)
        self._ticker: asyncio.TimerHandle | None = None
        self._is_paused = False
        self._emptied = asyncio.Event()
        self._meters.slow = self._pressure.named
        self._meters.gauges |= {
            "connections": lambda: len(self._sockets),
            "timers": lambda: len(self._timers),
            "held_commands": lambda: len(self._waiting),
            "congested_connections": lambda: len(self._pressure),
        }

    def start(self) -> None:
        """Gives the session back what an earlier life stored."""
        now = time_ns()
        records = self._store.load(self._protocol)
        self._perform(self._session.restore(records, now // _NS_PER_MS), now)

    def request(self, request: object) -> None:
        """Tells the session what the application wants."""
        self._handle(Requested(request))

    # What links tell.

    def opened(self, connection: Connection) -> None:
        """A connection came up."""
        connection.line = self._next_line
        connection.protocol = self._protocol
        connection.turn = self._turn
        self._next_line += 1
        self._connections[connection.line] = connection
        self._sockets.add(connection)
        self._meters.opened += 1
        if self._is_paused:
            connection.pause()
        self._handle(
            Opened(connection.line, connection.peer, connection.identity, connection.token)
        )

    def received(self, connection: Connection, raw: bytes, *, is_text: bool) -> None:
        """A whole frame came in."""
        if self._ended:
            self._tell_ended()
        now = time_ns()
        self._spoke.add(connection)
        event = make(FrameReceived, (connection.line, raw, is_text))
        try:
            commands = self._session.handle(event, now // _NS_PER_MS)
        except Exception:
            commands = self._apology(event)
        self._perform(commands, now, connection, raw)

    def alive(self, connection: Connection) -> None:
        """The peer gave a sign of life that is no frame."""
        self._handle(Alive(connection.line))

    def congested(self, connection: Connection) -> None:
        """More waits to leave than should, or little enough again."""
        self._pressure.note(connection)
        self._begin_turn()

    def stalled(self, connection: Connection) -> None:
        """More waits to leave than may: the peer does not read."""
        if connection.is_cut:
            return
        connection.is_cut = True
        self._meters.count_cut(connection.name)
        connection.abort()

    def ending(self, connection: Connection, code: int) -> None:
        """Nothing leaves on a connection any more, though its socket may stay for a while."""
        if self._connections.pop(connection.line, None) is None:
            return
        self._meters.closed[code] += 1
        self._waiting.forget(connection)
        # Later: a link may tell of an end in the middle of an answer that demanded it.
        self._ended.append(Closed(connection.line, code))
        self._loop.call_soon(self._tell_ended)

    def closed(self, connection: Connection, code: int) -> None:
        """A connection went away."""
        self.ending(connection, code)
        self._pressure.forget(connection)
        self._sockets.discard(connection)
        if not self._sockets:
            self._emptied.set()

    # What the node tells.

    def synced(self, ticket: int) -> None:
        """All records up to this ticket are on disk."""
        for connection, command in self._waiting.commands(ticket):
            self._release(connection, command)
        for item in self._waiting.items(ticket):
            self._deliver(item)
        if self._tap is not None:
            self._tap.rows.at(time_ns())
        self._begin_turn()

    def pause(self) -> None:
        """Stops reading: the node cannot keep up."""
        self._is_paused = True
        for connection in self._sockets:
            connection.pause()

    def resume(self) -> None:
        """Reads on."""
        self._is_paused = False
        for connection in self._sockets:
            connection.resume()

    async def stop(self, seconds: float) -> None:
        """Lets the session say goodbye, lets everything out, and ends all connections."""
        self.resume()
        self._handle(Stopping())
        try:
            async with asyncio.timeout(seconds):
                await self._drain()
        except TimeoutError:
            _log.warning("%s: %d connections did not end", self._protocol, len(self._sockets))
        for connection in tuple(self._sockets):
            connection.abort()
        self._alarm.cancel()
        if self._ticker is not None:
            self._ticker.cancel()
        await asyncio.sleep(0)

    async def _drain(self) -> None:
        while self._waiting or self._turn:
            await asyncio.sleep(0.005)
        for connection in tuple(self._connections.values()):
            connection.close(GOING_AWAY, "server shutdown")
        while self._sockets:
            self._emptied.clear()
            await self._emptied.wait()

    # Events and commands.

    def _tell_ended(self) -> None:
        """Tells the session of ends, before anything else: it shall send nothing into the void."""
        while self._ended:
            self._answer(self._ended.popleft())

    def _handle(self, event: Event) -> None:
        self._tell_ended()
        self._answer(event)

    def _answer(self, event: Event) -> None:
        now = time_ns()
        try:
            commands = self._session.handle(event, now // _NS_PER_MS)
        except Exception:
            commands = self._apology(event)
        self._perform(commands, now)

    def _apology(self, event: Event) -> Sequence[Command]:
        """What is done about an event that the session failed on."""
        self._meters.faults += 1
        _log.exception("%s: %s was not handled", self._protocol, type(event).__name__)
        if isinstance(event, FrameReceived):
            return (
                Conclude(Outcome.REJECTED, Reason.INTERNAL),
                Close(event.line, INTERNAL_ERROR, "internal error"),
            )
        return ()

    def _perform(
        self,
        commands: Sequence[Command],
        now: int,
        source: Connection | None = None,
        raw: bytes = b"",
    ) -> None:
        """Performs commands in their order; `source` is where the frame came from, if one did."""
        connections, sent = self._connections, self._meters.sent
        rows = None if self._tap is None else self._tap.rows
        ticket = 0
        conclusion: Conclude | None = None
        for command in commands:
            if type(command) is Send:
                line, frame, is_text, outcome = command
                connection = connections.get(line)
                if connection is None:
                    continue
                if ticket or connection.held:
                    self._waiting.add(connection, ticket, command)
                    continue
                connection.put(frame, is_text=is_text)
                sent[outcome] += 1
                if rows is not None:
                    rows.add(connection, LEFT[outcome], frame)
            elif type(command) is Conclude:
                conclusion = conclusion or command
            else:
                ticket = self._perform_other(command, ticket) or ticket
        if source is not None:
            self._conclude(source, conclusion or UNCONCLUDED, raw)
        if rows is not None:
            rows.at(now)
        if self._turn_began_at is None:
            self._begin_turn()

    def _spread(self, spread: Spread, ticket: int) -> None:
        """Performs many sends, with as little as can be done for each."""
        lines, frames, is_text, outcome = spread
        try:
            reached = [self._connections[line] for line in lines]
        except KeyError:  # somebody has gone
            reached = []
        if ticket or not reached or not self._waiting.connections.isdisjoint(reached):
            for line, frame in zip(lines, frames, strict=True):
                self._put(Send(line, frame, is_text, outcome), ticket)
            return
        for connection, frame in zip(reached, frames, strict=True):
            connection.put(frame, is_text=is_text)
        self._meters.sent[outcome] += len(frames)
        if self._tap is not None:
            self._tap.rows.add_all(reached, LEFT[outcome], frames)

    def _put(self, command: Send | Close, ticket: int) -> None:
        connection = self._connections.get(command.line)
        if connection is not None and (ticket or connection.held):
            self._waiting.add(connection, ticket, command)
        elif connection is not None:
            self._release(connection, command)

    def _perform_other(self, command: Command, ticket: int) -> int:
        """Performs a command that is none of the two frequent ones; gives a ticket of its own."""
        match command:
            case Spread():
                self._spread(command, ticket)
            case Store(kind, key, value):
                return self._store.put((self._protocol, kind, key), value)
            case Forget(kind, key):
                return self._store.put((self._protocol, kind, key), None)
            case WakeAt(timer, at_ms):
                self._timers.set(timer, at_ms)
            case Close():
                self._put(command, ticket)
            case Deliver(item) if ticket or self._waiting.has_items:
                self._waiting.add_item(ticket, item)
            case Deliver(item):
                self._deliver(item)
        return 0

    def _conclude(self, source: Connection, conclusion: Conclude, raw: bytes) -> None:
        outcome, reason, peer, kind = conclusion
        if peer is not None:
            source.name = peer
        self._meters.received[kind, outcome, reason] += 1
        if self._tap is not None:
            meaning = CAME.get((outcome, reason), CAME[outcome, None])
            self._tap.rows.add(source, meaning, raw)

    def _release(self, connection: Connection, command: Send | Close) -> None:
        if isinstance(command, Close):
            connection.close(command.code, command.reason)
            return
        connection.put(command.raw, is_text=command.text)
        self._meters.sent[command.outcome] += 1
        if self._tap is not None:
            self._tap.rows.add(connection, LEFT[command.outcome], command.raw)

    # Turns of the loop.

    def _begin_turn(self) -> None:
        if self._turn_began_at is None:
            self._turn_began_at = perf_counter()
            self._loop.call_soon(self._end_turn)

    def _end_turn(self) -> None:
        """Sends frames to sockets and records to disk, all that this turn brought.

        Who spoke is answered last: when a sender hears what became of a message, it has left for
        its receiver, whatever happens to this process in between. So it has when it is forgotten.
        """
        began_at = self._turn_began_at or 0.0
        for connection in sorted(self._turn, key=self._spoke.__contains__):
            connection.flush()
        self._store.commit()
        self._turn.clear()
        self._spoke.clear()
        if self._tap is not None:
            self._tap.check()
        self._turn_began_at = None
        self._meters.turn.observe(perf_counter() - began_at)
        for event in self._pressure.noted():
            self._handle(event)
        if self._pressure and self._ticker is None:
            self._ticker = self._loop.call_later(TICK_SECONDS, self._tick)
        self._alarm.set(self._timers.next_at(), time_ns() // _NS_PER_MS)

    def _tick(self) -> None:
        self._ticker = None
        for event in self._pressure.tick():
            self._handle(event)
        self._begin_turn()

    def _ring(self) -> None:
        for count, timer in enumerate(self._timers.due(time_ns() // _NS_PER_MS), 1):
            self._handle(TimerFired(timer))
            if count == MAX_TIMERS_A_TURN:
                break
        self._begin_turn()
