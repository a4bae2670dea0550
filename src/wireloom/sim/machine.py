"""A simulated machine: it runs one session, may crash or stop, and keeps records across lives."""

from collections.abc import Callable, Hashable, Sequence
from itertools import count
from typing import Final, Protocol

from wireloom.performing.counts import FrameCounts
from wireloom.performing.performer import Performer
from wireloom.performing.runner import Runner
from wireloom.performing.world import NS_PER_MS, Channel, Tap
from wireloom.sim.agenda import Call
from wireloom.sim.clocks import MachineClock
from wireloom.sim.ends import ABNORMAL, End, Visitor
from wireloom.sim.ports import Ground, Port
from wireloom.sim.records import MemoryRecords
from wireloom.wire.session import Compute, Computed, Dial, Event, FrameReceived, Session

UNNOTICED_NS: Final = 60_000 * NS_PER_MS
"""How long the other ends of a machine that vanished take it to be there."""


class Surroundings(Ground, Protocol):
    """What a machine needs of its world."""

    def post(self, call: Call, /, *args: object) -> None:
        """Has something happen now, after all that was posted before."""
        ...

    def reach(self, machine: "Machine", dial: Dial, /) -> None:
        """Connects a machine to the one that listens at an address."""
        ...

    def settle(self) -> None:
        """Lets happen all that happens now."""
        ...


class Machine:
    """One session with its records and connections.

    Args:
        name: Its name, for people.
        protocol: What its session speaks.
        world: Where it is.
        number: Its number; no other machine of the world has it.
        clock: What it takes the time to be.
        tap: Where frames are captured, if they are.
    """

    disk_ns: int = 0
    """How long records take to be kept."""

    hearing: End | None = None
    """Where the last frame came from."""

    session: Session | None = None
    """What runs on it."""

    def __init__(
        self,
        name: str,
        protocol: str,
        world: Surroundings,
        *,
        number: int,
        clock: MachineClock,
        tap: Tap | None = None,
    ) -> None:
        self.name = name
        self.number = number
        self.protocol = protocol
        self.clock = clock
        self.tap = tap
        self._world = world
        self.records = MemoryRecords()
        self.counts = FrameCounts()
        self.delivered: list[object] = []
        """What the session has delivered, unless `deliver` takes it."""

        self.deliver: Callable[[object], None] = self.delivered.append
        """Takes what the session delivers, from the next life on."""

        self.misses: Callable[[bytes], None] = lambda _: None
        """Told of frames that came for a connection that was gone."""

        self.faults: list[Exception] = []
        """What the session has failed with."""

        self.ports: dict[str, Port] = {}
        """Where it takes datagrams, by link."""

        self._lines = count(1)
        self._ends: dict[End, None] = {}
        self._to_flush: list[End] = []
        self._tasks: dict[Hashable, Compute] = {}
        self._performer: Performer | None = None
        self._runner: Runner | None = None
        self._alarm_ms: int | None = None
        self._is_syncing = False
        self._deferred: list[tuple[Call, tuple[object, ...]]] | None = None

    # Lives.

    @property
    def is_up(self) -> bool:
        """Whether a session runs on it."""
        return self._runner is not None

    @property
    def is_paused(self) -> bool:
        """Whether it is stopped: nothing reaches it, and no timer fires."""
        return self._deferred is not None

    @property
    def deferred(self) -> Sequence[tuple[Call, tuple[object, ...]]]:
        """What waits because the process is stopped."""
        return self._deferred or ()

    @property
    def ends(self) -> tuple[End, ...]:
        """Its connections."""
        return tuple(self._ends)

    def start(self, session: Session) -> None:
        """Begins a life, with what the last one stored."""
        assert self._runner is None, "it runs"
        self.session = session
        self._performer = Performer(
            self.protocol,
            connections=self,
            records=self.records,
            tap=self.tap,
            counts=self.counts,
            deliver=self.deliver,
            workers=self,
        )
        self._runner = Runner(
            session,
            self._performer,
            clock=self.clock,
            failed=lambda _, error: self.faults.append(error),
            lines=self._lines,
        )
        self._runner.start(self.records.stored())
        self._end_turn()

    def crash(self, *, kept: int = 0, is_silent: bool = False) -> None:
        """Ends a life without a word: what had not left and was not kept is lost.

        Args:
            kept: Of the records on their way, so many got to the disk before.
            is_silent: Whether nobody is told for a while that connections have ended.
        """
        self._performer = self._runner = self.session = self._alarm_ms = None
        deferred, self._deferred = self._deferred or [], None
        self._is_syncing = False
        self._to_flush.clear()
        self._tasks.clear()
        self.records.crash(kept)
        for end in tuple(self._ends):
            if is_silent:
                self._vanish(end)
            else:
                self._cut(end, ABNORMAL, "")
        for call, args in deferred:
            self._world.post(call, *args)
        self._world.settle()

    def pause(self) -> None:
        """Stops the process; what comes for it waits."""
        self._deferred = []

    def resume(self) -> None:
        """Lets the process go on."""
        deferred, self._deferred = self._deferred or [], None
        for call, args in deferred:
            self._world.post(call, *args)
        if self.is_up:
            self._set_alarm()
        self._world.settle()

    def defers(self, call: Call, *args: object) -> bool:
        """Whether something has to wait because the process is stopped; then it does."""
        if self._deferred is None:
            return False
        self._deferred.append((call, args))
        return True

    # What happens to it.

    def visit(
        self, peer: str, *, link: str = "sim", identity: str | None = None, token: str | None = None
    ) -> Visitor:
        """Connects somebody from outside to it; returns the far end."""
        end = End(self, link, peer)
        end.identity, end.token = identity, token
        visitor = Visitor(end)
        end.far = visitor
        self.open(end)
        return visitor

    def hear(self, event: Event) -> None:
        """Tells the session of something that came on no connection."""
        if self.defers(self._hear, self._runner, event):
            return
        self._running().hear(event)
        self._end_turn()

    def _hear(self, life: Runner, event: Event) -> None:
        """Tells a life, if it still runs, of something that waited."""
        if self._runner is life:
            self.hear(event)

    def sync(self) -> None:
        """Keeps the records that are on their way, and has done what waited for them."""
        self._running().release(self.records.sync())
        self._end_turn()

    def next_timer_ms(self) -> int | None:
        """When its next timer is due, by its own clock."""
        return None if self._runner is None else self._runner.next_timer_ms()

    def fire(self) -> None:
        """Fires the next timer, if it is due."""
        self._running().fire(1)
        self._end_turn()

    # What the network tells.

    def open(self, end: End) -> bool:
        """A connection came up; returns whether it is wanted."""
        runner = self._running()
        if not runner.open(end):
            return False
        self._ends[end] = None
        self._end_turn()
        return True

    def fail(self, dial: Dial, reason: str) -> None:
        """A peer could not be reached."""
        self._running().fail(dial, reason)
        self._end_turn()

    def received(self, end: End, raw: bytes, text: bool) -> None:  # noqa: FBT001
        """A frame came in."""
        if self._deferred is not None and self.defers(end.receive, raw, text, end.sent_ns):
            return
        self.hearing = end
        self._running().hear(FrameReceived(end.line, raw, text))
        self._end_turn()

    def missed(self, end: End, raw: bytes) -> None:
        """A frame came for an end that is gone."""
        del end
        self._world.network.lose()
        self.misses(raw)

    def lost(self, end: End, code: int, reason: str) -> None:
        """The other end of a connection is gone."""
        if end not in self._ends or self.defers(self.lost, end, code, reason):
            return
        del self._ends[end]
        self._running().end(end, code, reason)
        self._end_turn()

    # What performing asks for.

    def flush_later(self, end: End) -> None:
        """Something was put to an end."""
        self._to_flush.append(end)

    def closes(self, end: End, code: int, reason: str) -> None:
        """The session closes a connection."""
        end.flush(self._world.network, self._world.now_ns)
        self._cut(end, code, reason)
        self._running().end(end, code)

    def let_out(self) -> None:
        """Sends all that was put on its way."""
        assert self._performer is not None
        if not self._to_flush:
            return
        network, now_ns = self._world.network, self._world.now_ns
        for end in self._performer.in_order(self._to_flush):
            end.flush(network, now_ns)
        self._to_flush.clear()

    def admitted(self, channel: Channel) -> None:
        """Nobody is told."""

    def dial(self, dial: Dial) -> None:
        """Reaches out to a peer, if this life still runs when that is done."""
        life, port = self._runner, self.ports.get(dial.link)

        def reach() -> None:
            if self._runner is not life or self.defers(reach):
                return
            if port is None:
                self._world.reach(self, dial)
            else:
                port.dial(dial)

        self._world.post(reach)

    def abandon(self, dial: Dial) -> None:
        """Nothing is to be done: a connection that is not wanted does not come up."""

    def compute(self, compute: Compute) -> None:
        """Finds out something that takes long: here, it takes no time."""
        self._tasks[compute.task] = compute
        self._world.post(self._compute, compute)

    def cancel(self, task: Hashable) -> None:
        """Drops a job that was not begun."""
        self._tasks.pop(task, None)

    def _compute(self, compute: Compute) -> None:
        if self._tasks.get(compute.task) is compute:
            del self._tasks[compute.task]
            found = next(one for part in count() if (one := compute.job(part)) is not None)
            self.hear(Computed(compute.task, found))

    def _running(self) -> Runner:
        assert self._runner is not None, f"{self.name} does not run"
        return self._runner

    def _end_turn(self) -> None:
        """Lets out frames, keeps records, and does what waited for them, until nothing is left."""
        runner, performer = self._running(), self._performer
        assert performer is not None
        while True:
            runner.catch_up()
            self.let_out()
            if len(self.records) and not self.records.is_slow and not self.disk_ns:
                runner.release(self.records.sync())
            elif not (self._to_flush or runner.is_behind):
                break
        performer.begin()
        if len(self.records) and self.disk_ns and not self._is_syncing:
            self._begin_sync()
        self._set_alarm()
        self._world.settle()

    # Time.

    def _begin_sync(self) -> None:
        """Records take their time to be kept; those that come meanwhile wait for the next turn."""
        self._is_syncing = True
        at_ns = self._world.now_ns + self.disk_ns
        self._world.later(at_ns, self._end_sync, self._runner, self.records.last_ticket)

    def _end_sync(self, life: Runner, ticket: int) -> None:
        if self._runner is life and not self.defers(self._end_sync, life, ticket):
            self._is_syncing = False
            life.release(self.records.sync(ticket))
            self._end_turn()

    def _set_alarm(self) -> None:
        """Has the world wake the machine when its next timer is due."""
        at_ms = self._running().next_timer_ms()
        if at_ms is not None and (self._alarm_ms is None or at_ms < self._alarm_ms):
            self._alarm_ms = at_ms
            self._world.later(max(self.clock.true_ns(at_ms), 0), self._ring, at_ms)

    def _ring(self, at_ms: int) -> None:
        """Fires a timer that is due, unless the alarm was set anew."""
        if at_ms != self._alarm_ms:
            return
        self._alarm_ms = None
        runner = self._runner
        if runner is None or self._deferred is not None:
            return
        due_ms = runner.next_timer_ms()
        if due_ms is not None and due_ms <= self.clock.now_ns() // NS_PER_MS:
            self.fire()
        else:
            self._set_alarm()

    # Ends.

    def _cut(self, end: End, code: int, reason: str) -> None:
        del self._ends[end]
        end.part(self._world.network, code, reason)

    def _vanish(self, end: End) -> None:
        """The other end hears nothing of a connection's end until it has been silent for long."""
        del self._ends[end]
        far, end.far = end.far, None
        if far is not None:
            self._world.later(self._world.now_ns + UNNOTICED_NS, far.ended, ABNORMAL, "")
        else:
            end.part(self._world.network, ABNORMAL, "")
