"""How often something may happen: so many at once, and so many a second after that."""


class Allowance:
    """What one source may still do.

    Args:
        burst: How many it may do at once.
        per_second: How many it gets back each second.
    """

    __slots__ = ("_at", "_burst", "_per_second", "_used")

    def __init__(self, burst: float, per_second: float) -> None:
        self._burst = burst
        self._per_second = per_second
        self._used = 0.0
        self._at = 0.0

    def used(self, now: float) -> float:
        """How many of the burst are used up, at a time in seconds."""
        self._used = max(0.0, self._used - (now - self._at) * self._per_second)
        self._at = now
        return self._used

    def use(self, now: float) -> None:
        """Counts one, whether it may be or not."""
        self._used = self.used(now) + 1

    def is_used_up(self, now: float) -> bool:
        """Whether one more may not be."""
        return self.used(now) + 1 > self._burst

    def take(self, now: float) -> bool:
        """Counts one that may be; one that may not is not counted."""
        if self.is_used_up(now):
            return False
        self._used += 1
        return True
