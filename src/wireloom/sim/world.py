"""Machines on one virtual clock, with lines between them."""

from collections import deque
from collections.abc import Callable
from typing import Final

from wireloom.performing.world import NS_PER_MS, Tap, now_ms
from wireloom.sim.ends import End
from wireloom.sim.machine import Machine
from wireloom.wire.session import Dial

MAX_ARRIVALS: Final = 1_000_000
"""Frames that follow each other without any time passing; more of them never come to rest."""


class VirtualClock:
    """A clock that stands still until it is set.

    Args:
        at_ms: What time it is, in ms since 1970.
    """

    def __init__(self, at_ms: int = 0) -> None:
        self._ns = at_ms * NS_PER_MS

    def now_ns(self) -> int:
        """Nanoseconds since 1970."""
        return self._ns

    def elapsed(self) -> float:
        """Seconds since 1970: nothing takes any time."""
        return self._ns / 1e9

    def set(self, at_ms: int) -> None:
        """Sets it."""
        self._ns = at_ms * NS_PER_MS


class World:
    """All machines, what is under way between them, and the time.

    Whatever is told to a machine has led to all that it leads to when the call returns.

    Args:
        at_ms: What time it is, in ms since 1970.
    """

    def __init__(self, at_ms: int = 0) -> None:
        self.clock = VirtualClock(at_ms)
        self.machines: list[Machine] = []
        self._listening: dict[Dial, Machine] = {}
        self._posted: deque[Callable[[], None]] = deque()
        self._is_settling = False

    @property
    def now_ms(self) -> int:
        """What time it is."""
        return now_ms(self.clock)

    def add(self, name: str, protocol: str, *, tap: Tap | None = None) -> Machine:
        """A new machine, on which nothing runs yet."""
        machine = Machine(name, protocol, self, tap=tap)
        self.machines.append(machine)
        return machine

    def listen(self, machine: Machine, link: str, address: str) -> None:
        """Has a machine reached at an address."""
        self._listening[Dial(link, address)] = machine

    def pass_time(self, ms: int) -> None:
        """Lets time pass; timers fire when they are due, one after the other."""
        end_ms = self.now_ms + ms
        while (machine := self._next_to_fire(end_ms)) is not None:
            due_ms = machine.next_timer_ms()
            self.clock.set(max(self.now_ms, due_ms or 0))
            machine.fire()
        self.clock.set(end_ms)

    def _next_to_fire(self, end_ms: int) -> Machine | None:
        """The machine with the earliest timer, if that is due by then."""
        due = [
            (at_ms, place)
            for place, machine in enumerate(self.machines)
            if (at_ms := machine.next_timer_ms()) is not None and at_ms <= end_ms
        ]
        return self.machines[min(due)[1]] if due else None

    def post(self, arrival: Callable[[], None]) -> None:
        """Has something arrive, after all that was posted before."""
        self._posted.append(arrival)

    def settle(self) -> None:
        """Lets arrive all that is under way, and all that this leads to.

        Raises:
            RuntimeError: If that does not end.
        """
        if self._is_settling:
            return
        self._is_settling = True
        try:
            for _ in range(MAX_ARRIVALS):
                if not self._posted:
                    return
                self._posted.popleft()()
            raise RuntimeError("the world does not come to rest")
        finally:
            self._is_settling = False

    def reach(self, machine: Machine, dial: Dial) -> None:
        """Connects a machine to the one that listens at an address, if it can be reached."""
        other = self._listening.get(dial)
        if other is None or not other.is_up:
            machine.fail(dial, "refused")
            return
        near, far = End(machine, dial.link, dial.address), End(other, dial.link, machine.name)
        near.dial, near.far, far.far = dial, far, near
        if machine.open(near):
            other.open(far)
