"""The order in which things happened, where clocks do not agree.

A node's own clock orders what the node saw. Across nodes, a frame left before it came, and a
message was there before what answers it. Times decide only what these rules leave open.
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
    for first, second in _known(timed):
        later[first].add(second)
    return [timed[place] for place in _laid(len(timed), later)]


def _when(step: Step) -> tuple[Any, ...]:
    node, _, place = str(step["sighting"]).rpartition("#")
    number, _, part = place.partition("/")
    return (step["captured_at"], not step["own"], node, _number(number), _number(part))


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _known(timed: Sequence[Step]) -> Iterable[tuple[int, int]]:
    """Pairs of places, what happened before what."""
    nodes: dict[str, list[int]] = defaultdict(list)
    left: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    came: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for place, step in enumerate(timed):
        nodes[step["node"]].append(place)
        if step["direction"] == "out":
            left[step["node"], step["peer"], step["message_id"]].append(place)
        elif step["direction"] == "in":
            came[step["peer"], step["node"], step["message_id"]].append(place)
    for places in nodes.values():
        yield from pairwise(places)
    for way, places in came.items():
        yield from zip(left[way], places, strict=False)
    yield from _answers(timed, {place for places in came.values() for place in places})


def _answers(timed: Sequence[Step], came: set[int]) -> Iterable[tuple[int, int]]:
    """A message, where it was made or else where it was seen first, before what answers it."""
    own = [place for place, step in enumerate(timed) if step["own"]]
    if own:
        origin = next((place for place in own if place not in came), own[0])
        yield from ((origin, place) for place, step in enumerate(timed) if not step["own"])


def _laid(count: int, later: dict[int, set[int]]) -> Iterable[int]:
    """All places, each after those before it; where that is a circle, time breaks it."""
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
