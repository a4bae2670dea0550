"""Comparing two ways to do a thing, in one run, as a ratio.

Machines are noisy: both ways take turns in short rounds, and the median of the rounds'
ratios counts.
"""

import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Final, NamedTuple

ROUNDS: Final = 15
ROUND_SECONDS: Final = 0.1


class Figure(NamedTuple):
    """One row of RESULTS.md."""

    question: str
    ours: str
    peer: str
    ratio: float
    goal: float

    @property
    def reached(self) -> bool:
        """Whether the goal is reached."""
        return self.ratio >= self.goal


def compare(
    question: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    *,
    peer_name: str,
    goal: float,
    items: int = 1,
    unit: str = "frames/s",
) -> Figure:
    """How many times as fast as `peer` `ours` is.

    Args:
        question: What is compared.
        ours: One turn of our way.
        peer: One turn of the other way.
        peer_name: What the other way is.
        goal: The least ratio to be content with.
        items: How many things one turn does.
        unit: What they are.
    """
    ours_count, peer_count = _turns(ours), _turns(peer)
    rates = [
        (items / _seconds(ours, ours_count), items / _seconds(peer, peer_count))
        for _ in range(ROUNDS)
    ]
    return Figure(
        question,
        f"{statistics.median(mine for mine, _ in rates):,.0f} {unit}",
        f"{peer_name}: {statistics.median(other for _, other in rates):,.0f} {unit}",
        statistics.median(mine / other for mine, other in rates),
        goal,
    )


def _turns(job: Callable[[], object]) -> int:
    """How often `job` fits in a round."""
    count = 1
    while (taken := _seconds(job, count) * count) < ROUND_SECONDS / 4:
        count *= 2
    return max(1, round(count * ROUND_SECONDS / taken))


def _seconds(job: Callable[[], object], count: int) -> float:
    """Seconds a turn, over `count` turns."""
    begin = perf_counter()
    for _ in range(count):
        job()
    return (perf_counter() - begin) / count
