"""A simulated machine: it runs one session, may crash, and keeps records across its lives."""

from collections.abc import Callable, Hashable
from functools import partial
from itertools import count
from typing import Protocol

from wireloom.performing.counts import FrameCounts
from wireloom.performing.performer import Performer
from wireloom.performing.runner import Runner
from wireloom.performing.world import Channel, Clock, Tap
from wireloom.sim.ends import ABNORMAL, End, Visitor
from wireloom.sim.records import MemoryRecords
from wireloom.wire.session import Compute, Computed, Dial, Event, FrameReceived, Session


class Surroundings(Protocol):
    """What a machine needs of its world."""

    @property
    def clock(self) -> Clock:
        """What time it is."""
        ...

    def post(self, arrival: Callable[[], None], /) -> None:
        """Has something arrive where it is sent to, after all that was posted before."""
        ...

    def reach(self, machine: "Machine", dial: Dial, /) -> None:
        """Connects a machine to the one that listens at an address."""
        ...

    def settle(self) -> None:
        """Lets arrive all that is under way."""
        ...


class Machine:
    """One session with its records and connections.

    Args:
        name: Its name, for people.
        protocol: What its session speaks.
        world: Where it is.
        tap: Where frames are captured, if they are.
    """

    def __init__(
        self, name: str, protocol: str, world: Surroundings, *, tap: Tap | None = None
    ) -> None:
        self.name = name
        self._protocol = protocol
        self._world = world
        self._tap = tap
        self.records = MemoryRecords()
        self.counts = FrameCounts()
        self.delivered: list[object] = []
        """What the session has delivered."""

        self.faults: list[Exception] = []
        """What the session has failed with."""

        self._lines = count(1)
        self._ends: dict[End, None] = {}
        self._to_flush: list[End] = []
        self._tasks: dict[Hashable, Compute] = {}
        self._performer: Performer | None = None
        self._runner: Runner | None = None

    # Lives.

    @property
    def is_up(self) -> bool:
        """Whether a session runs on it."""
        return self._runner is not None

    def start(self, session: Session) -> None:
        """Begins a life, with what the last one stored."""
        assert self._runner is None, "it runs"
        self._performer = Performer(
            self._protocol,
            connections=self,
            records=self.records,
            tap=self._tap,
            counts=self.counts,
            deliver=self.delivered.append,
            workers=self,
        )
        self._runner = Runner(
            session,
            self._performer,
            clock=self._world.clock,
            failed=lambda _, error: self.faults.append(error),
            lines=self._lines,
        )
        self._runner.start(self.records.stored())
        self._end_turn()

    def crash(self) -> None:
        """Ends a life without a word: what had not left and was not kept is lost."""
        self._performer = self._runner = None
        self._to_flush.clear()
        self._tasks.clear()
        self.records.crash()
        for end in tuple(self._ends):
            self._cut(end, ABNORMAL, "")
        self._world.settle()

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
        self._running().hear(event)
        self._end_turn()

    def sync(self) -> None:
        """Keeps the records that are on their way, and has done what waited for them."""
        self._running().release(self.records.sync())
        self._end_turn()

    def next_timer_ms(self) -> int | None:
        """When its next timer is due."""
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
        self._running().hear(FrameReceived(end.line, raw, text))
        self._end_turn()

    def lost(self, end: End, code: int, reason: str) -> None:
        """The other end of a connection is gone."""
        del self._ends[end]
        self._running().end(end, code, reason)
        self._end_turn()

    # What performing asks for.

    def flush_later(self, end: End) -> None:
        """Something was put to an end."""
        self._to_flush.append(end)

    def closes(self, end: End, code: int, reason: str) -> None:
        """The session closes a connection."""
        self._flush(end)
        self._cut(end, code, reason)
        self._running().end(end, code)

    def let_out(self) -> None:
        """Sends all that was put on its way."""
        assert self._performer is not None
        for end in self._performer.in_order(self._to_flush):
            self._flush(end)
        self._to_flush.clear()

    def admitted(self, channel: Channel) -> None:
        """Nobody is told."""

    def dial(self, dial: Dial) -> None:
        """Reaches out to a peer, if this life still runs when that is done."""
        life = self._runner
        self._world.post(lambda: self._world.reach(self, dial) if self._runner is life else None)

    def abandon(self, dial: Dial) -> None:
        """Nothing is to be done: a connection that is not wanted does not come up."""

    def compute(self, compute: Compute) -> None:
        """Finds out something that takes long: here, it takes no time."""
        self._tasks[compute.task] = compute
        self._world.post(partial(self._compute, compute))

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
            if len(self.records) and not self.records.is_slow:
                runner.release(self.records.sync())
            elif not (self._to_flush or runner.is_behind):
                break
        performer.begin()
        self._world.settle()

    def _flush(self, end: End) -> None:
        far = end.far
        if far is not None:
            for raw, text in end.out:
                self._world.post(partial(far.receive, raw, text))
        end.out.clear()

    def _cut(self, end: End, code: int, reason: str) -> None:
        del self._ends[end]
        far, end.far = end.far, None
        if far is not None:
            self._world.post(partial(far.ended, code, reason))
