"""Plays a scenario with a seed: makes its world, lets time pass, and holds it to the invariants."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from wireloom.performing.world import Tap
from wireloom.sim.casts import ROLES
from wireloom.sim.contacts import contacts
from wireloom.sim.invariants import ALWAYS, FINALLY, SETTLED_SECONDS, Broken, Invariant
from wireloom.sim.ledger import Ledger
from wireloom.sim.network import Quality
from wireloom.sim.parts import Part
from wireloom.sim.scenario import Scenario, ScenarioError
from wireloom.sim.streams import Stream
from wireloom.sim.tables import Cast, Mobility
from wireloom.sim.troubles import NS, Troublemaker
from wireloom.sim.watched import Watched
from wireloom.sim.waypoint import STEP_SECONDS, Walker, near
from wireloom.sim.world import World

BEGIN_MS: Final = 1_750_000_000_000
"""When all worlds begin, in ms since 1970."""

CHECK_SECONDS: Final = 5.0
"""How often the whole world is looked at."""

TOLD_FLIGHTS: Final = 20
"""How many of the last frames are told with what broke."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of a play."""

    seed: int
    seconds: float
    """How much time passed in it."""

    frames: int
    lost: int
    """Frames that were sent, and those of them that did not arrive."""

    messages: int
    """What applications meant to send to somebody by name."""

    delivered: int
    """Of those, what arrived at all of them."""

    latency_ms: float | None
    """How long half of them took."""

    latency_p99_ms: float | None
    """How long all but the slowest hundredth took."""

    fingerprint: str
    """A hash over all frames."""

    troubles: dict[str, int]
    """How often each fault happened."""

    broken: tuple[Broken, ...]
    """What did not hold."""


class Play:
    """One world of a scenario.

    Args:
        scenario: What is played.
        seed: What all chance follows from.
        tap: Makes what captures the frames of a node, by its name; None if none are.
        flush: Called now and then, when taps may hold many.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        *,
        tap: Callable[[str], Tap] | None = None,
        flush: Callable[[], None] = lambda: None,
    ) -> None:
        self.scenario = scenario
        self.world = World(BEGIN_MS, seed=seed)
        self.ledger = Ledger()
        self.found: list[Broken] = []
        self.begun_ns = self.world.now_ns
        self.end_ns = self.begun_ns + int(scenario.seconds * NS)
        self._tap = tap
        self._flush = flush
        self._roles: dict[str, list[Part]] = {role: [] for role in ROLES}
        self._casts: dict[str, list[Part]] = {}
        self.world.network.quality = scenario.links
        for name, cast in scenario.cast.items():
            self._casts[name] = [self._enlist(name, cast, one) for one in range(cast.count)]
        self.parts = [part for parts in self._casts.values() for part in parts]
        self._named = {part.name: part for part in self.parts}
        self._raise_curtain()

    # What others ask of it.

    @property
    def now_ns(self) -> int:
        """What time it is."""
        return self.world.now_ns

    @property
    def calm_ns(self) -> int:
        """When nothing goes wrong any more."""
        return self.end_ns - int(self.scenario.calm_seconds * NS)

    def of_role(self, role: str) -> Sequence[Part]:
        """All who play a role."""
        return self._roles[role]

    def broken(self, invariant: str, words: str, *machines: str) -> None:
        """Notes that an invariant does not hold."""
        flights = self.world.network.recent.of(set(machines), TOLD_FLIGHTS)
        self.found.append(Broken(invariant, words, self.now_ns, machines, flights))

    def begin(self, part: Part) -> None:
        """Begins a life of a machine."""
        if part.machine.is_up:
            return
        part.lives += 1
        watched = Watched(
            part.session(),
            lambda words: self.broken("frames", f"{part.name}: {words}", part.name),
            None if part.machine.tap is None else part,
            part.says,
        )
        part.machine.start(watched)
        part.wake()
        self.world.settle()

    def end(self, part: Part, *, kept: int, is_silent: bool) -> None:
        """Ends a life of a machine."""
        part.crashes.append(self.now_ns)
        part.machine.crash(kept=kept, is_silent=is_silent)

    # What it does.

    def run(self, progress: Callable[[float], None] = lambda _: None) -> Result:
        """Plays it to its end, or to the moment when something does not hold."""
        step_ns = int(CHECK_SECONDS * NS)
        while self.now_ns < self.end_ns and not self.found:
            self.world.pass_until(min(self.now_ns + step_ns, self.end_ns))
            self._check(ALWAYS)
            self._flush()
            progress((self.now_ns - self.begun_ns) / NS)
        if not self.found and self.scenario.calm_seconds >= SETTLED_SECONDS:
            self._check(FINALLY)
        return self.result()

    def result(self) -> Result:
        """What became of it so far."""
        named = [one for one in self.ledger.messages.values() if one.targets]
        whole = [one for one in named if one.arrived.keys() >= set(one.targets)]
        times = sorted(max(at[0] for at in one.arrived.values()) - one.at_ns for one in whole)
        network = self.world.network
        return Result(
            seed=self.world.streams.seed,
            seconds=(self.now_ns - self.begun_ns) / NS,
            frames=network.frame_count,
            lost=network.lost_count,
            messages=len(named),
            delivered=len(whole),
            latency_ms=median(times) / 1e6 if times else None,
            latency_p99_ms=times[(99 * len(times) - 1) // 100] / 1e6 if times else None,
            fingerprint=network.fingerprint,
            troubles={name: one.count for name, one in self._troubles.items()},
            broken=tuple(self.found),
        )

    def _check(self, invariants: Sequence[Invariant]) -> None:
        for invariant in invariants:
            for words, machines in invariant(self):
                self.broken(invariant.__name__, words, *machines)

    # How it begins.

    def _enlist(self, name: str, cast: Cast, place: int) -> Part:
        own = f"{name}-{place}"
        random = self.world.streams.stream(f"machine {own}")
        role = ROLES[cast.role]
        machine = self.world.add(
            own,
            role.PROTOCOL,
            tap=self._tap(own) if self._tap is not None and role.IS_NODE else None,
            skew_ms=random.randint(-cast.skew_ms, cast.skew_ms),
            drift_ppm=random.randint(-cast.drift_ppm, cast.drift_ppm),
        )
        machine.disk_ns = int(cast.disk_ms * 1e6)
        part = role(self, machine, cast.limits, cast.traffic, random)
        self._roles[cast.role].append(part)
        return part

    def _raise_curtain(self) -> None:
        for name, parts in self._casts.items():
            cast = self.scenario.cast[name]
            for place, part in enumerate(parts):
                after = cast.joins_seconds * (place + 1) / len(parts)
                if after:
                    self.world.later(self.begun_ns + int(after * NS), self.begin, part)
                else:
                    self.begin(part)
                if cast.traffic.rate:
                    moments = self.world.streams.stream(f"moments {part.name}")
                    self._act_later(part, moments)
        self._troubles = {
            name: Troublemaker(
                name,
                fault,
                self._casts[fault.who],
                self.world.streams.stream(f"fault {name}"),
                lives=self,
                calm_ns=self.calm_ns,
            )
            for name, fault in self.scenario.faults.items()
        }
        if self.scenario.mobility is not None:
            self._set_out(self.scenario.mobility)
        self.world.later(self.calm_ns, self._calm_down)

    def _calm_down(self) -> None:
        """From now on links only take time, and whoever is late has joined."""
        links = self.scenario.links
        self.world.network.quality = Quality(
            delay_ms=links.delay_ms,
            jitter_ms=links.jitter_ms,
            bandwidth=links.bandwidth,
            mtu=links.mtu,
        )
        for part in self.parts:
            self.begin(part)

    def _act_later(self, part: Part, moments: Stream) -> None:
        at_ns = self.now_ns + int(moments.expovariate(part.wish.rate) * NS)
        if at_ns < self.calm_ns:
            self.world.later(at_ns, self._act, part, moments)

    def _act(self, part: Part, moments: Stream) -> None:
        part.act()
        self._act_later(part, moments)

    # Who is near whom.

    def _set_out(self, mobility: Mobility) -> None:
        if not mobility.contacts:
            names = [part.name for part in self.parts]
            walkers = [Walker(name, mobility, self.world.streams) for name in names]
            self._walk(walkers, mobility.range_m)
            return
        self.world.network.move(())
        try:
            with Path(mobility.contacts).open() as lines:
                for seconds, one, other, is_up in contacts(lines):
                    names = [self.parts[place].name for place in (one, other)]
                    at_ns = self.begun_ns + int(seconds * NS)
                    self.world.later(at_ns, self._meet, *names, is_up)
        except (OSError, ValueError) as error:
            raise ScenarioError(f"{mobility.contacts}: {error}") from None
        except IndexError:
            raise ScenarioError(f"{mobility.contacts} has more nodes than the cast") from None

    def _meet(self, one: str, other: str, is_up: bool) -> None:  # noqa: FBT001
        self.world.network.touch(one, other, is_up=is_up)
        if not is_up:
            self._leave(one, other)

    def _walk(self, walkers: Sequence[Walker], range_m: float) -> None:
        for walker in walkers:
            walker.step(STEP_SECONDS)
        for pair in sorted(map(sorted, self.world.network.move(near(walkers, range_m)))):
            self._leave(*pair)
        at_ns = self.now_ns + int(STEP_SECONDS * NS)
        self.world.later(at_ns, self._walk, walkers, range_m)

    def _leave(self, one: str, other: str) -> None:
        """The streams between two machines end, unless they meet again soon."""
        near, far = self._named[one].machine, self._named[other].machine
        self.world.part(near, far)
        self.world.part(far, near)
