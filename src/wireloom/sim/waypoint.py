"""Machines that walk: each to a place by chance, where it rests, and then to the next."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import dist, hypot
from typing import Final

from wireloom.sim.streams import Streams
from wireloom.sim.tables import Mobility

STEP_SECONDS: Final = 1.0
"""How often it is looked who is near whom."""


class Walker:
    """One machine on its way.

    Args:
        name: Its name, from which its way follows.
        terrain: Where it walks.
        streams: Where chance comes from.
    """

    def __init__(self, name: str, terrain: Mobility, streams: Streams) -> None:
        self.name = name
        self._terrain = terrain
        self._random = streams.stream(f"walk {name}")
        self.at = self._goal = self._place()
        self._rests = 0.0
        self._speed = 0.0

    def step(self, seconds: float) -> None:
        """Goes on for a while."""
        if self._rests > 0:
            self._rests -= seconds
            return
        (x, y), (goal_x, goal_y) = self.at, self._goal
        left, reach = hypot(goal_x - x, goal_y - y), self._speed * seconds
        if left > reach:
            part = reach / left
            self.at = x + (goal_x - x) * part, y + (goal_y - y) * part
            return
        self.at, self._goal = self._goal, self._place()
        self._rests = self._random.uniform(0, self._terrain.rest_seconds)
        self._speed = self._random.uniform(self._terrain.least_speed, self._terrain.most_speed)

    def _place(self) -> tuple[float, float]:
        terrain = self._terrain
        return self._random.uniform(0, terrain.width_m), self._random.uniform(0, terrain.height_m)


def near(walkers: Sequence[Walker], range_m: float) -> Iterator[tuple[str, str]]:
    """The pairs that reach each other; only those in neighbouring squares are looked at."""
    squares: dict[tuple[int, int], list[Walker]] = {}
    for walker in walkers:
        x, y = walker.at
        squares.setdefault((int(x // range_m), int(y // range_m)), []).append(walker)
    for (x, y), inside in squares.items():
        beside = [
            walker
            for place in ((x + 1, y - 1), (x + 1, y), (x + 1, y + 1), (x, y + 1))
            for walker in squares.get(place, ())
        ]
        pairs = [*combinations(inside, 2), *((one, two) for one in inside for two in beside)]
        for one, two in pairs:
            if dist(one.at, two.at) <= range_m:
                yield one.name, two.name
