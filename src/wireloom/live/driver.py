"""Runs a session on links: bytes become events, commands become bytes.

Everything happens on one event loop. Frames that come in wait for the end of the loop's turn,
or for anything else that happens, and are then handled one after the other. What a session
answers is performed at once (see `performer`), but frames that leave are only put to their
connections, and written together when the turn ends.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter, time_ns
from typing import Final

from wireloom.live import journal
from wireloom.live.alarm import Alarm
from wireloom.live.backlogs import Backlogs
from wireloom.live.links.connection import Connection
from wireloom.live.metrics import Meters
from wireloom.live.performer import Answer, Performer
from wireloom.live.pressure import TICK_SECONDS, Pressure
from wireloom.live.store import RecordStore
from wireloom.live.tap import Tap
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Alive,
    Close,
    Closed,
    Command,
    Conclude,
    Event,
    FrameReceived,
    FrameRefused,
    Opened,
    Requested,
    Session,
    Stopping,
    TimerFired,
    Turn,
)

INTERNAL_ERROR: Final = 1011
GOING_AWAY: Final = 1001
MAX_TIMERS_A_TURN: Final = 256
"""Timers that are due wait for others' frames after so many."""

MANY: Final = 1_024
LARGE: Final = 64 * 1024
"""So many frames, and frames of so many bytes, do not wait for the end of a turn: what waits has a
bound, however many send at once."""

ORDINARY: Final = frozenset({1000, GOING_AWAY, 1005, 1006})
"""Codes of connections that simply ended."""

MAX_HELD_BYTES: Final = 128 * 1024 * 1024
"""With more in frames that wait for the store, the node takes nothing in."""

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
        self._turn_of_session = Turn(session.ids)
        self._store = store
        self._tap = tap
        self._meters = meters or Meters()
        out = self._let_out
        self._performer = Performer(
            protocol, store=store, tap=tap, meters=self._meters, deliver=deliver, let_out=out
        )
        self._connections = self._performer.connections
        self._waiting = self._performer.waiting
        self._timers = self._performer.timers
        self._loop = asyncio.get_running_loop()
        self._sockets: set[Connection] = set()
        self._came: deque[Event] = deque()
        self._came_or_went: deque[Opened | Closed] = deque()
        self._is_working = False
        self._next_line = 1
        self._turn: list[Connection] = []
        self._turn_began_at: float | None = None
        self._alarm = Alarm(self._ring)
        self._pressure = Pressure()
        self.backlogs = Backlogs()
        """What waits to leave on all connections; drivers of one node share it."""

        self.overloaded: Callable[[bool], None] = lambda _: None
        """Told when too much waits for the store, and when little enough does again."""

        self._is_overloaded = False
        self._ticker: asyncio.TimerHandle | None = None
        self._is_paused = False
        self._emptied = asyncio.Event()
        self._add_gauges()

    def start(self) -> None:
        """Gives the session back what an earlier life stored."""
        now = time_ns()
        records = self._store.load(self._protocol)
        restored = self._turn_of_session.begin(now // _NS_PER_MS)
        self._session.restore(records, self._turn_of_session)
        self._performer.perform([(restored, None, b"")], now)
        self._begin_turn()

    def request(self, request: object) -> None:
        """Tells the session what the application wants."""
        self._handle(Requested(request))

    # What links tell.

    def turned_away(self, who: str, why: str) -> None:
        """Somebody was not let in."""
        self._meters.turned_away[why] += 1
        why = journal.REMEDIES.get(why, why)
        journal.note("refused", protocol=self._protocol, who=who, why=why)

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
        self._came_or_went.append(
            Opened(connection.line, connection.peer, connection.identity, connection.token)
        )
        self.catch_up()

    def received(self, event: FrameReceived) -> None:
        """A whole frame came in."""
        came = self._came
        came.append(event)
        if self._turn_began_at is None:
            self._begin_turn()
        elif len(event.raw) > LARGE or len(came) > MANY:
            self.catch_up()

    def refused(self, event: FrameRefused) -> None:
        """A frame above the limit began to come in."""
        self._handle(event)

    def catch_up(self) -> None:
        """Handles all that came, unless that is being done."""
        if self._is_working or not (self._came or self._came_or_went):
            return
        self._is_working = True
        try:
            now = time_ns()
            self._performer.perform(self._answers(now // _NS_PER_MS), now)
        finally:
            self._is_working = False
        self._begin_turn()

    def alive(self, connection: Connection) -> None:
        """The peer gave a sign of life that is no frame."""
        self._handle(Alive(connection.line))

    def congested(self, connection: Connection) -> None:
        """More waits to leave than should, or little enough again."""
        self._pressure.note(connection)
        self._begin_turn()

    def waits(self, connection: Connection, size: int) -> None:
        """The system did not take a write whole."""
        self.backlogs.note(connection, size)

    def stalled(self, connection: Connection) -> None:
        """More waits to leave than may: the peer does not read."""
        if connection.is_cut:
            return
        connection.is_cut = True
        self._meters.count_cut(connection.name)
        self._note("cut", connection, why="it does not read")
        connection.abort()

    def ending(self, connection: Connection, code: int) -> None:
        """Nothing leaves on a connection any more, though its socket may stay for a while."""
        self.catch_up()
        if not self._performer.drop(connection):
            return
        self._meters.closed[code] += 1
        if code not in ORDINARY:
            self._note("ended", connection, code=code)
        # Later: a link may tell of an end in the middle of an answer that demanded it.
        self._came_or_went.append(Closed(connection.line, code))
        self._loop.call_soon(self.catch_up)

    def closed(self, connection: Connection, code: int) -> None:
        """A connection went away."""
        self.ending(connection, code)
        self._pressure.forget(connection)
        self.backlogs.forget(connection)
        self._sockets.discard(connection)
        if not self._sockets:
            self._emptied.set()

    def _note(self, event: str, connection: Connection, **fields: str | int) -> None:
        journal.note(
            event, protocol=self._protocol, name=connection.name, peer=connection.peer, **fields
        )

    # What the node tells.

    def synced(self, ticket: int) -> None:
        """All records up to this ticket are on disk."""
        self._performer.release(ticket, time_ns())
        self._begin_turn()

    def pause(self) -> None:
        """Stops reading, and handling what was read: the node cannot keep up."""
        self._is_paused = True
        for connection in self._sockets:
            connection.pause()

    def resume(self) -> None:
        """Reads on."""
        self._is_paused = False
        for connection in self._sockets:
            connection.resume()
        self._begin_turn()

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
        while self._waiting or self._turn or self._came:
            await asyncio.sleep(0.005)
        for connection in tuple(self._connections.values()):
            connection.close(GOING_AWAY, "server shutdown")
        while self._sockets:
            self._emptied.clear()
            await self._emptied.wait()

    def _add_gauges(self) -> None:
        self._meters.slow = self._pressure.named
        self._meters.gauges |= {
            "connections": lambda: len(self._sockets),
            "timers": lambda: len(self._timers),
            "held_commands": lambda: len(self._waiting),
            "congested_connections": lambda: len(self._pressure),
        }

    # Events and commands.

    def _handle(self, event: Event) -> None:
        self._came.append(event)
        self.catch_up()

    def _answers(self, now_ms: int) -> Iterator[Answer]:
        """What the session answers to all that happened: one answer at a time is performed.

        It hears of ends before anything else: it shall send nothing into the void. What came
        after it had ended a connection, it does not hear. While the node cannot keep up, what came
        waits.
        """
        handle, came, first = self._session.handle, self._came, self._came_or_went
        connections, turn = self._connections, self._turn_of_session
        while first or (came and not self._is_paused):
            event = first.popleft() if first else came.popleft()
            source, raw = None, b""
            if type(event) is FrameReceived:
                raw = event.raw
                source = connections.get(event.line)
                if source is None:
                    continue
            elif type(event) is FrameRefused:
                raw, source = event.head, connections.get(event.line)
            commands: Sequence[Command] = turn.begin(now_ms)
            try:
                handle(event, turn)
            except Exception:
                commands = self._apology(event)
            yield commands, source, raw

    def _apology(self, event: Event) -> Sequence[Command]:
        """What is done about an event that the session failed on."""
        self._meters.faults += 1
        _log.exception("%s: %s was not handled", self._protocol, type(event).__name__)
        if isinstance(event, FrameReceived | FrameRefused):
            return (
                Conclude(Outcome.REJECTED, Reason.INTERNAL),
                Close(event.line, INTERNAL_ERROR, "internal error"),
            )
        return ()

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
        try:
            self.catch_up()
        finally:
            self._close_turn(self._turn_began_at or 0.0)
        for event in self._pressure.noted():
            self._handle(event)
        if self._pressure and self._ticker is None:
            self._ticker = self._loop.call_later(TICK_SECONDS, self._tick)
        self._set_alarm()

    def _close_turn(self, began_at: float) -> None:
        self._let_out()
        self._performer.begin()
        self._turn_began_at = None
        self._meters.turn.observe(perf_counter() - began_at)
        if self._came and not self._is_paused:  # something failed that came before
            self._begin_turn()

    def _let_out(self) -> None:
        """Writes all that was put, and has records and rows written if they are enough."""
        for connection in sorted(self._turn, key=self._performer.spoke.__contains__):
            connection.flush()
        self._turn.clear()
        self._store.commit()
        if self._tap is not None:
            self._tap.check()
        self._weigh()

    def _weigh(self) -> None:
        """Tells when too much waits for the store, and when little enough does again."""
        most = MAX_HELD_BYTES // 2 if self._is_overloaded else MAX_HELD_BYTES
        is_much = self._waiting.size > most
        if is_much != self._is_overloaded:
            self._is_overloaded = is_much
            self.overloaded(is_much)

    def _set_alarm(self) -> None:
        """Wakes for the next timer; while the node cannot keep up, timers wait too."""
        due = None if self._is_paused else self._timers.next_at()
        self._alarm.set(due, time_ns() // _NS_PER_MS)

    def _tick(self) -> None:
        self._ticker = None
        for event in () if self._is_paused else self._pressure.tick():
            self._handle(event)
        self._begin_turn()

    def _ring(self) -> None:
        if self._is_paused:
            return
        for count, timer in enumerate(self._timers.due(time_ns() // _NS_PER_MS), 1):
            self._handle(TimerFired(timer))
            if count == MAX_TIMERS_A_TURN:
                break
        self._begin_turn()
