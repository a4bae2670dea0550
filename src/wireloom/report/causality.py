"""The order in which things happened, where clocks do not agree.

A node's own clock orders what the node saw. Across nodes, a frame departs before it arrives, and a
message precedes its answers. Times decide only what these rules leave open.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

Step = dict[str, Any]


def ordered(steps: Sequence[Step]) -> list[Step]:
    """Sightings of a message and of its answers, causes before effects."""
    timed = sorted(steps, key=_when)
    later: dict[int, set[int]] = defaultdict(set)
    for first, second in _pairs(timed):
        later[first].add(second)
    return [timed[place] for place in _sorted(len(timed), later)]


def _when(step: Step) -> tuple[Any, ...]:
    node, _, place = str(step["sighting"]).rpartition("#")
    number, _, part = place.partition("/")
    return (step["captured_at"], not step["own"], node, _number(number), _number(part))


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _pairs(timed: Sequence[Step]) -> Iterable[tuple[int, int]]:
    """Pairs of places: the first happened before the second."""
    nodes: dict[str, list[int]] = defaultdict(list)
    departures: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    arrivals: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for place, step in enumerate(timed):
        nodes[step["node"]].append(place)
        if step["direction"] == "out":
            departures[step["node"], step["peer"], step["message_id"]].append(place)
        elif step["direction"] == "in":
            arrivals[step["peer"], step["node"], step["message_id"]].append(place)
    for places in nodes.values():
        yield from pairwise(places)
    for way, places in arrivals.items():
        yield from zip(departures[way], places, strict=False)
    yield from _answers(timed, {place for places in arrivals.values() for place in places})


def _answers(timed: Sequence[Step], arrived: set[int]) -> Iterable[tuple[int, int]]:
    """Pairs of a message, where it was made or first seen, and each of its answers."""
    own = [place for place, step in enumerate(timed) if step["own"]]
    if own:
        origin = next((place for place in own if place not in arrived), own[0])
        yield from ((origin, place) for place, step in enumerate(timed) if not step["own"])


def _sorted(count: int, later: dict[int, set[int]]) -> Iterable[int]:
    """All places in topological order; a cycle is broken at the earliest time."""
    waits = [0] * count
    for places in later.values():
        for place in places:
            waits[place] += 1
    free = [place for place in range(count) if not waits[place]]
    heapify(free)
    left = dict.fromkeys(range(count))
    while left:
        place = heappop(free) if free else next(iter(left))
        if place not in left:
            continue
        del left[place]
        yield place
        for next_ in later[place]:
            waits[next_] -= 1
            if not waits[next_]:
                heappush(free, next_)
