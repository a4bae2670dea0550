"""Machines on one virtual clock, with lines between them."""

from collections import deque
from collections.abc import Iterator
from typing import Final

from wireloom.performing.world import NS_PER_MS, Tap, now_ms
from wireloom.sim.agenda import Agenda, Call
from wireloom.sim.clocks import SkewedClock, VirtualClock
from wireloom.sim.ends import End
from wireloom.sim.machine import Machine
from wireloom.sim.network import Network
from wireloom.sim.ports import Place, Port
from wireloom.sim.streams import Streams
from wireloom.wire.session import Dial, Swarm

MAX_ARRIVALS: Final = 1_000_000
"""Frames that follow each other without any time passing; more of them never come to rest."""

MAX_PATIENCE_NS: Final = 60_000 * NS_PER_MS
"""How long a stream lasts while its ends do not reach each other."""

DIAL_NS: Final = 10_000 * NS_PER_MS
"""How long somebody who dials waits for a machine that does not answer."""


class World:
    """All machines, what is under way between them, and the time.

    Whatever is told to a machine has led to all that it leads to without time passing when the call
    returns. Links are perfect until `network.quality` says otherwise.

    Args:
        at_ms: What time it is, in ms since 1970.
        seed: What all chance in it follows from.
    """

    def __init__(self, at_ms: int = 0, *, seed: int = 0) -> None:
        self.clock = VirtualClock(at_ms)
        self.streams = Streams(seed)
        self.network = Network(self._arrive, self.clock, self.streams)
        self.machines: list[Machine] = []
        self._listening: dict[Dial, Machine] = {}
        self._ports: dict[Place, Port] = {}
        self._now: deque[tuple[Call, tuple[object, ...]]] = deque()
        self._agenda = Agenda()
        self._is_settling = False

    @property
    def now_ms(self) -> int:
        """What time it is."""
        return now_ms(self.clock)

    @property
    def now_ns(self) -> int:
        """What time it is, in ns."""
        return self.clock.at_ns

    def add(
        self,
        name: str,
        protocol: str,
        *,
        tap: Tap | None = None,
        skew_ms: int = 0,
        drift_ppm: int = 0,
    ) -> Machine:
        """A new machine, on which nothing runs yet."""
        is_right = not (skew_ms or drift_ppm)
        clock = (
            self.clock
            if is_right
            else SkewedClock(self.clock, skew_ms=skew_ms, drift_ppm=drift_ppm)
        )
        number = len(self.machines)
        machine = Machine(name, protocol, self, number=number, clock=clock, tap=tap)
        self.machines.append(machine)
        return machine

    def listen(self, machine: Machine, link: str, address: str) -> None:
        """Has a machine reached at an address."""
        self._listening[Dial(link, address)] = machine

    def bind(
        self, machine: Machine, link: str, address: str, *, swarm: Swarm | None = None
    ) -> None:
        """Has a machine take datagrams at an address, and dial by datagrams on that link."""
        port = Port(machine, link, address, self, swarm)
        self._ports[link, address] = machine.ports[link] = port

    def port(self, place: Place) -> Port | None:
        """What takes datagrams at an address."""
        return self._ports.get(place)

    # Time.

    def pass_time(self, ms: int) -> None:
        """Lets time pass; all that is due happens, one after the other."""
        self.pass_until(self.clock.at_ns + ms * NS_PER_MS)

    def pass_until(self, end_ns: int) -> None:
        """Lets time pass until then."""
        clock, take, now = self.clock, self._agenda.take, self._now
        while (entry := take(end_ns)) is not None:
            at_ns, _, call, args = entry
            clock.at_ns = max(clock.at_ns, at_ns)
            call(*args)
            if now:
                self.settle()
        clock.at_ns = end_ns

    def later(self, at_ns: int, call: Call, *args: object) -> None:
        """Has something happen at a time, after all that happens then already."""
        self._agenda.put(at_ns, call, *args)

    def post(self, call: Call, *args: object) -> None:
        """Has something happen now, after all that was posted before."""
        self._now.append((call, args))

    def _arrive(self, at_ns: int, call: Call, *args: object) -> None:
        """Has something arrive; what takes no time does so when the world settles."""
        if at_ns == self.clock.at_ns:
            self._now.append((call, args))
        else:
            self._agenda.put(at_ns, call, *args)

    def settle(self) -> None:
        """Lets happen all that happens now, and all that this leads to.

        Raises:
            RuntimeError: If that does not end.
        """
        now = self._now
        if self._is_settling or not now:
            return
        self._is_settling = True
        try:
            for _ in range(MAX_ARRIVALS):
                if not now:
                    return
                call, args = now.popleft()
                call(*args)
            raise RuntimeError("the world does not come to rest")
        finally:
            self._is_settling = False

    # Streams.

    def reach(self, machine: Machine, dial: Dial) -> None:
        """Connects a machine to the one that listens at an address, if it can be reached."""
        other = self._listening.get(dial)
        life = machine.session
        if other is None:
            machine.fail(dial, "refused")
            return
        path = self.network.path(machine, other)
        if not self.network.reaches(machine.name, other.name):
            self._agenda.put(self.now_ns + DIAL_NS, self._refuse, machine, dial, life, "no answer")
            return
        at_ns = self.now_ns + self.network.round_trip_ns(path)
        if at_ns == self.now_ns:
            self._connect(machine, other, dial, life)
        else:
            self._agenda.put(at_ns, self._connect, machine, other, dial, life)

    def _refuse(self, machine: Machine, dial: Dial, life: object, reason: str) -> None:
        """Tells of an attempt that failed, if whoever made it still runs."""
        if machine.session is life and not machine.defers(
            self._refuse, machine, dial, life, reason
        ):
            machine.fail(dial, reason)

    def _connect(self, machine: Machine, other: Machine, dial: Dial, life: object) -> None:
        """Makes a connection, if both still run."""
        if machine.session is not life:
            return
        if machine.defers(self._connect, machine, other, dial, life):
            return
        if not other.is_up or other.is_paused:
            machine.fail(dial, "refused")
            return
        near, far = End(machine, dial.link, dial.address), End(other, dial.link, machine.name)
        near.dial, near.far, far.far = dial, far, near
        near.path = self.network.path(machine, other)
        far.path = self.network.path(other, machine)
        if machine.open(near):
            other.open(far)

    def part(self, one: Machine, other: Machine) -> None:
        """Two machines do not reach each other any more: their streams end if it stays so."""
        for end in one.ends:
            if end.path is not None and end.far is not None and end.path.far is other:
                self.later(self.now_ns + MAX_PATIENCE_NS, self.give_up, end)

    def give_up(self, end: End) -> None:
        """Breaks a stream off, if the way between its ends is cut."""
        path = end.path
        if path is not None and not self.network.reaches(path.near.name, path.far.name):
            end.break_off()

    def under_way(self) -> Iterator[tuple[Machine, bytes]]:
        """The frames of streams that have left and not arrived, and where they go."""
        deferred = (one for machine in self.machines for one in machine.deferred)
        for call, args in (*self._agenda, *self.network.waiting(), *deferred):
            end = getattr(call, "__self__", None)
            if isinstance(end, End) and isinstance(end.holder, Machine):
                raw = args[0]
                if isinstance(raw, bytes):
                    yield end.holder, raw
