"""A session on sockets: links tell of bytes, and frames leave in writes.

Everything happens on one event loop. Frames that come in wait for the end of the loop's turn,
or for anything else that happens, and are then handled one after the other. What a session
answers is performed at once (see `performing`), but frames that leave are only put to their
connections, and written together when the turn ends.
"""

import asyncio
import logging
from collections.abc import Callable, Hashable
from typing import Final

from wireloom.live import journal
from wireloom.live.alarm import Alarm
from wireloom.live.backlogs import Backlogs
from wireloom.live.clock import SystemClock
from wireloom.live.dialling import Dialer, Dialling
from wireloom.live.links.connection import Connection
from wireloom.live.metrics import Meters
from wireloom.live.pressure import TICK_SECONDS, Pressure
from wireloom.live.store import Keeping
from wireloom.live.tap import Tap
from wireloom.live.workers import Workers
from wireloom.performing.performer import Performer
from wireloom.performing.runner import Runner
from wireloom.performing.world import Channel, Clock, now_ms
from wireloom.wire.session import (
    Alive,
    Computed,
    Dial,
    Event,
    FrameReceived,
    FrameRefused,
    Requested,
    Session,
    Stopping,
)

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

_log: Final = logging.getLogger(__name__)


class Driver:
    """One session and its connections.

    Args:
        protocol: What it speaks.
        session: The session; `start` restores it.
        store: Where it keeps what must survive.
        tap: Where frames are captured, if they are.
        meters: Where things are counted.
        clock: What time it is.
    """

    def __init__(
        self,
        protocol: str,
        session: Session,
        *,
        store: Keeping,
        tap: Tap | None = None,
        meters: Meters | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._protocol = protocol
        self._store = store
        self._tap = tap
        self._meters = meters or Meters()
        self._clock = clock or SystemClock()
        self._workers = Workers(self._on_computed)
        self._performer = self._made_performer(store, tap)
        self._runner = Runner(session, self._performer, clock=self._clock, failed=self._failed)
        self._inbox = self._runner.inbox
        self._loop = asyncio.get_running_loop()
        self._sockets: set[Connection] = set()
        self._turn: list[Connection] = []
        """Connections to which something was put in this turn."""
        self._turn_began_at: float | None = None
        self._alarm = Alarm(self._ring)
        self._pressure = Pressure()
        self._dialling = Dialling(self._unreached)
        self.backlogs = Backlogs()
        """What waits to leave on all connections; drivers of one node share it."""

        self.deliver: Callable[[object], None] = lambda _: None
        """Takes what the session delivers."""

        self.overloaded: Callable[[bool], None] = lambda _: None
        """Told when too much waits for the store, and when little enough does again."""

        self._is_overloaded = False
        self._ticker: asyncio.TimerHandle | None = None
        self._emptied = asyncio.Event()
        self._add_gauges()

    def _made_performer(self, store: Keeping, tap: Tap | None) -> Performer:
        return Performer(
            self._protocol,
            connections=self,
            records=store,
            tap=tap,
            counts=self._meters,
            deliver=self._deliver,
            workers=self._workers,
        )

    def start(self) -> None:
        """Gives the session back what an earlier life stored."""
        self._runner.start(self._store.load(self._protocol))
        self._begin_turn()

    def add_link(self, name: str, link: Dialer) -> None:
        """Has the session's dials of this name reach out through a link."""
        self._dialling.links[name] = link

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits to be heard, to be kept or to leave."""
        is_behind = self._inbox or self._runner.is_behind
        return not (is_behind or self._performer.held_count or self._turn)

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
        connection.turn = self._turn
        self._sockets.add(connection)
        if not self._runner.open(connection):
            connection.abort()
            return
        self._meters.opened += 1
        if self._runner.is_paused:
            connection.pause()
        self.catch_up()

    def received(self, event: FrameReceived) -> None:
        """A whole frame came in."""
        inbox = self._inbox
        inbox.append(event)
        if self._turn_began_at is None:
            self._begin_turn()
        elif len(event.raw) > LARGE or len(inbox) > MANY:
            self.catch_up()

    def refused(self, event: FrameRefused) -> None:
        """A frame above the limit began to come in."""
        self._handle(event)

    def catch_up(self) -> None:
        """Handles all that came in, unless that is being done."""
        if self._runner.catch_up():
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
        if not self._runner.end(connection, code):
            return
        self._meters.closed[code] += 1
        if code not in ORDINARY:
            self._note("ended", connection, code=code)
        # Later: a link may tell of an end in the middle of an answer that demanded it.
        self._loop.call_soon(self.catch_up)

    def closed(self, connection: Connection, code: int) -> None:
        """A connection went away."""
        self.ending(connection, code)
        self._pressure.forget(connection)
        self.backlogs.forget(connection)
        self._sockets.discard(connection)
        if not self._sockets:
            self._emptied.set()

    def _note(self, event: str, connection: Channel, **fields: str | int) -> None:
        journal.note(
            event, protocol=self._protocol, name=connection.name, peer=connection.peer, **fields
        )

    # What the node tells.

    def synced(self, ticket: int) -> None:
        """All records up to this ticket are on disk."""
        self._runner.release(ticket)
        self._begin_turn()

    def pause(self) -> None:
        """Stops reading, and handling what was read: the node cannot keep up."""
        self._runner.is_paused = True
        for connection in self._sockets:
            connection.pause()

    def resume(self) -> None:
        """Reads on."""
        self._runner.is_paused = False
        for connection in self._sockets:
            connection.resume()
        self._begin_turn()

    async def stop(self, seconds: float) -> None:
        """Lets the session say goodbye, lets everything out, and ends all connections."""
        self.resume()
        self._handle(Stopping())
        self._dialling.stop()
        self._workers.stop()
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
        while not self.is_idle:
            await asyncio.sleep(0.005)
        for channel in self._performer.channels:
            channel.close(GOING_AWAY, "server shutdown")
        while self._sockets:
            self._emptied.clear()
            await self._emptied.wait()

    def _add_gauges(self) -> None:
        self._meters.slow = self._pressure.named
        self._meters.gauges |= {
            "connections": lambda: len(self._sockets),
            "timers": lambda: self._performer.timer_count,
            "held_commands": lambda: self._performer.held_count,
            "computing": lambda: len(self._workers),
            "congested_connections": lambda: len(self._pressure),
        }

    # What performing asks for.

    def admitted(self, channel: Channel) -> None:
        """A peer has said who it is."""
        self._note("login", channel)

    def dial(self, dial: Dial) -> None:
        """Begins to reach a peer."""
        self._dialling.begin(dial)

    def abandon(self, dial: Dial) -> None:
        """Ends an attempt to reach a peer."""
        self._dialling.abandon(dial)

    def _deliver(self, item: object) -> None:
        self.deliver(item)

    def _unreached(self, dial: Dial, reason: str) -> None:
        self._runner.fail(dial, reason)
        self._begin_turn()

    def _on_computed(self, task: Hashable, result: object) -> None:
        self._handle(Computed(task, result))

    def _failed(self, event: Event, error: Exception) -> None:
        """The session did not handle an event: that is a fault of our own."""
        self._meters.faults += 1
        kind = type(event).__name__
        _log.error("%s: %s was not handled", self._protocol, kind, exc_info=error)

    def _handle(self, event: Event) -> None:
        self._inbox.append(event)
        self.catch_up()

    # Turns of the loop.

    def _begin_turn(self) -> None:
        if self._turn_began_at is None:
            self._turn_began_at = self._clock.elapsed()
            self._loop.call_soon(self._end_turn)

    def _end_turn(self) -> None:
        """Sends frames to sockets and records to disk, all that this turn brought."""
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
        self.let_out()
        self._performer.begin()
        self._turn_began_at = None
        self._meters.turn.observe(self._clock.elapsed() - began_at)
        if self._inbox and self._runner.is_behind:  # something failed that came before
            self._begin_turn()

    def let_out(self) -> None:
        """Writes all that was put, and has records and rows written if they are enough.

        A record is forgotten after what it stood for has left.
        """
        for connection in self._performer.in_order(self._turn):
            connection.flush()
        self._turn.clear()
        self._store.commit()
        if self._tap is not None:
            self._tap.check()
        self._weigh()

    def _weigh(self) -> None:
        """Tells when too much waits for the store, and when little enough does again."""
        most = MAX_HELD_BYTES // 2 if self._is_overloaded else MAX_HELD_BYTES
        is_much = self._performer.held_size > most
        if is_much != self._is_overloaded:
            self._is_overloaded = is_much
            self.overloaded(is_much)

    def _set_alarm(self) -> None:
        self._alarm.set(self._runner.next_timer_ms(), now_ms(self._clock))

    def _tick(self) -> None:
        self._ticker = None
        for event in () if self._runner.is_paused else self._pressure.tick():
            self._handle(event)
        self._begin_turn()

    def _ring(self) -> None:
        if not self._runner.is_paused:
            self._runner.fire(MAX_TIMERS_A_TURN)
            self._begin_turn()
