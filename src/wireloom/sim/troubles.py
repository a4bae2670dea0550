"""Makes things go wrong, and right again."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from wireloom.sim.agenda import Call
from wireloom.sim.parts import Part
from wireloom.sim.ports import DatagramEnd
from wireloom.sim.streams import Stream
from wireloom.sim.tables import Fault, Trouble
from wireloom.sim.world import World

NS: Final = 1_000_000_000


class Lives(Protocol):
    """Who begins and ends lives."""

    world: World

    def begin(self, part: Part, /) -> None:
        """Begins a life."""
        ...

    def end(self, part: Part, *, kept: int, is_silent: bool) -> None:
        """Ends one."""
        ...


class Troublemaker:
    """Has one fault of a scenario happen again and again.

    Args:
        name: The fault's name.
        fault: What happens.
        parts: To whom it happens.
        random: When and how, by chance.
        lives: Who begins and ends lives.
        calm_ns: When nothing may be wrong any more.
    """

    def __init__(
        self,
        name: str,
        fault: Fault,
        parts: Sequence[Part],
        random: Stream,
        *,
        lives: Lives,
        calm_ns: int,
    ) -> None:
        self.count = 0
        """How often it happened."""
        self._name = name
        self._fault = fault
        self._parts = parts
        self._random = random
        self._lives = lives
        self._calm_ns = calm_ns
        world = lives.world
        begun_ns = world.now_ns
        self._until_ns = min(
            calm_ns, begun_ns + int(fault.until_seconds * NS) if fault.until_seconds else calm_ns
        )
        self._next(begun_ns + int(fault.from_seconds * NS))

    def _next(self, from_ns: int) -> None:
        gap = self._random.expovariate(1 / self._fault.every_seconds)
        at_ns = from_ns + int(gap * NS)
        if at_ns < self._until_ns and self._parts:
            self._lives.world.later(at_ns, self._strike)

    def _strike(self) -> None:
        struck = max(1, round(self._fault.share * len(self._parts)))
        victims = self._random.sample(list(self._parts), min(struck, len(self._parts)))
        self.count += 1
        _STRIKES[self._fault.kind](self, victims)
        self._next(self._lives.world.now_ns)

    def _crash(self, victims: Sequence[Part]) -> None:
        for part in victims:
            self._end(part, is_silent=False)

    def _vanish(self, victims: Sequence[Part]) -> None:
        for part in victims:
            self._end(part, is_silent=True)

    def _end(self, part: Part, *, is_silent: bool) -> None:
        if part.machine.is_up:
            kept = self._random.randint(0, len(part.machine.records))
            self._lives.end(part, kept=kept, is_silent=is_silent)
            self._after(self._lives.begin, part)

    def _pause(self, victims: Sequence[Part]) -> None:
        for part in victims:
            if part.machine.is_up and not part.machine.is_paused:
                part.machine.pause()
                self._after(_resume, part)

    def _break(self, victims: Sequence[Part]) -> None:
        for part in victims:
            ends = [end for end in part.machine.ends if not isinstance(end, DatagramEnd)]
            if ends and not part.machine.is_paused:
                self._random.choice(ends).break_off()

    def _cut(self, victims: Sequence[Part]) -> None:
        name = f"{self._name} {self.count}"
        world, inside = self._lives.world, frozenset(part.name for part in victims)
        world.network.cut(name, inside)
        self._after(world.network.heal, name)
        for part in victims:
            for other in world.machines:
                if other.name not in inside:
                    world.part(part.machine, other)

    def _after(self, call: Call, *args: object) -> None:
        """Has something be right again, before the calm begins."""
        world = self._lives.world
        lasts = (
            self._random.expovariate(1 / self._fault.for_seconds) if self._fault.for_seconds else 0
        )
        world.later(min(world.now_ns + int(lasts * NS), self._calm_ns), call, *args)


def _resume(part: Part) -> None:
    if part.machine.is_paused:
        part.machine.resume()


_STRIKES: Final[Mapping[Trouble, Callable[[Troublemaker, Sequence[Part]], None]]] = {
    Trouble.CRASH: Troublemaker._crash,
    Trouble.VANISH: Troublemaker._vanish,
    Trouble.PAUSE: Troublemaker._pause,
    Trouble.BREAK: Troublemaker._break,
    Trouble.PARTITION: Troublemaker._cut,
}
