"""How often something may happen: token buckets, all of one kind."""

from typing import Annotated

from msgspec import Meta, Struct

Limit = Annotated[int, Meta(ge=1)]
"""A number of which there is at least one."""


class Rate(Struct, frozen=True):
    """So many in so much time; all of them may come at once."""

    count: Limit
    """How many."""

    per_ms: Limit
    """In how many milliseconds."""


class Bucket:
    """Tokens that come back at a steady rate.

    It keeps one number, the time at which it is full again. Times are numbers of any unit, as long
    as one bucket sees one unit.

    Args:
        size: How many tokens it has when it is full.
        window: In how much time an empty bucket fills. With 0 it is never empty.
    """

    __slots__ = ("_full_at", "_size", "_step", "_window")

    def __init__(self, size: float, window: float) -> None:
        self._size = size
        self._window = float(window)
        self._step = window / size
        self._full_at = 0.0

    @classmethod
    def of(cls, rate: Rate | None) -> "Bucket":
        """The bucket of a rate, in milliseconds; without a rate, it is never empty."""
        return cls(1, 0) if rate is None else cls(rate.count, rate.per_ms)

    def take(self, now: float, cost: float = 1) -> float:
        """Takes tokens: 0, or how long to wait if there are too few, and none is taken then."""
        full_at, now = self._full_at, float(now)
        full_at = (full_at if full_at > now else now) + self._step * cost
        missing = full_at - now - self._window
        if missing > 0:
            return missing
        self._full_at = full_at
        return 0

    def spend(self, now: float, cost: float = 1) -> float:
        """Takes tokens whether they are there or not; gives how long no more should be taken."""
        full_at = self._full_at
        self._full_at = full_at = (full_at if full_at > now else now) + self._step * cost
        missing = full_at - now - self._window
        return missing if missing > 0 else 0

    def left(self, now: float) -> float:
        """How many tokens there are; less than none if more were spent."""
        missing = self._full_at - now
        return self._size if missing <= 0 else self._size - missing / self._step
