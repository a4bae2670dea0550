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
    value: float | None
    """What was measured, most often a ratio; None if it could not be."""

    goal: float | None
    """The least value to be content with, or the most; None if it is for information only."""

    unit: str = "×"
    at_most: bool = False
    """Whether the goal is the most that the value may be."""

    @property
    def reached(self) -> bool:
        """Whether the goal is reached; what has none, or was not measured, misses none."""
        if self.value is None or self.goal is None:
            return True
        return self.value <= self.goal if self.at_most else self.value >= self.goal


def compare(
    question: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    *,
    peer_name: str,
    goal: float | None,
    items: int = 1,
    unit: str = "frames/s",
) -> Figure:
    """How many times as fast as `peer` `ours` is.

    Args:
        question: What is compared.
        ours: One turn of our way.
        peer: One turn of the other way.
        peer_name: What the other way is.
        goal: The least ratio to be content with, if there is one.
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


def take_turns(
    ours: Callable[[], object],
    peer: Callable[[], object],
    *,
    rounds: int,
    tidy: Callable[[], object] = lambda: None,
) -> list[tuple[float, float]]:
    """The seconds that each way took in each round, for jobs that take seconds.

    Who is first changes with every round: what a turn leaves behind (garbage, dirty pages)
    is then at the cost of both.

    Args:
        ours: One turn of our way.
        peer: One turn of the other way.
        rounds: How many rounds.
        tidy: Cleans up after a round; it is not measured.
    """
    taken = []
    for number in range(rounds):
        mine, other = take_turn(ours, peer, is_first=number % 2 == 0)
        tidy()
        taken.append((mine, other))
        print(f"    round {number + 1} of {rounds}: {mine:.2f} s, {other:.2f} s", flush=True)
    return taken


def take_turn(
    ours: Callable[[], object], peer: Callable[[], object], *, is_first: bool
) -> tuple[float, float]:
    """The seconds that each way takes, with ours first or last."""
    if is_first:
        return seconds(ours), seconds(peer)
    other = seconds(peer)
    return seconds(ours), other


def seconds(job: Callable[[], object]) -> float:
    """How long `job` takes."""
    begin = perf_counter()
    job()
    return perf_counter() - begin


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
