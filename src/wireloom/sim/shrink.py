"""Makes a failing play smaller: fewer machines, fewer faults, shorter, as long as it fails."""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from wireloom.sim.network import PERFECT
from wireloom.sim.play import Play
from wireloom.sim.scenario import Scenario
from wireloom.sim.tables import Cast

MAX_PLAYS: Final = 200
"""After so many plays the smallest so far is good enough."""


def shrunk(
    scenario: Scenario,
    seed: int,
    invariant: str,
    *,
    tried: Callable[[int], None] = lambda _: None,
) -> Scenario:
    """The smallest scenario that was found in which the same invariant breaks with this seed.

    Args:
        scenario: One in which it breaks.
        seed: Its seed.
        invariant: What breaks.
        tried: Told how many plays there were.
    """
    count, smallest = 0, scenario
    is_smaller = True
    while is_smaller and count < MAX_PLAYS:
        is_smaller = False
        for candidate in _smaller(smallest):
            count += 1
            tried(count)
            if count > MAX_PLAYS:
                break
            if _breaks(candidate, seed, invariant):
                smallest, is_smaller = candidate, True
                break
    return smallest


def _breaks(scenario: Scenario, seed: int, invariant: str) -> bool:
    result = Play(scenario, seed).run()
    return any(broken.invariant == invariant for broken in result.broken)


def _smaller(scenario: Scenario) -> Iterator[Scenario]:
    """Scenarios that are smaller in one way, those that are much smaller first."""
    change = msgspec.structs.replace
    for name in scenario.faults:
        rest = {key: fault for key, fault in scenario.faults.items() if key != name}
        yield change(scenario, faults=rest)
    if scenario.links != PERFECT:
        yield change(scenario, links=PERFECT)
    for name, cast in scenario.cast.items():
        for less in _smaller_cast(cast):
            yield change(scenario, cast={**scenario.cast, name: less})
    loud = scenario.seconds - scenario.calm_seconds
    for part in (0.5, 0.8):
        if loud * part >= 1:
            yield change(scenario, seconds=round(loud * part + scenario.calm_seconds, 1))


def _smaller_cast(cast: Cast) -> Iterator[Cast]:
    change = msgspec.structs.replace
    for count in sorted({cast.count // 2, cast.count - 1} - {0}):
        if 0 < count < cast.count:
            yield change(cast, count=count)
    plain = change(cast, skew_ms=0, drift_ppm=0, joins_seconds=0.0, disk_ms=0.0)
    if plain != cast:
        yield plain
    kinds = cast.traffic.kinds
    for kind in kinds if len(kinds) > 1 else ():
        others = {key: share for key, share in kinds.items() if key != kind}
        yield change(cast, traffic=change(cast.traffic, kinds=others))
