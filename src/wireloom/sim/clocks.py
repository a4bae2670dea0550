"""The time of a simulated world, and what its machines take it to be."""

from typing import Final, Protocol

from wireloom.performing.world import NS_PER_MS, Clock

_MILLION: Final = 1_000_000


class MachineClock(Clock, Protocol):
    """A machine's clock."""

    def true_ns(self, at_ms: int, /) -> int:
        """When it shows a time, by the world's clock."""
        ...

    def shown_ns(self, at_ns: int, /) -> int:
        """What it shows at a time of the world's clock."""
        ...


class VirtualClock:
    """A clock that stands still until it is set.

    Args:
        at_ms: What time it is, in ms since 1970.
    """

    def __init__(self, at_ms: int = 0) -> None:
        self.at_ns = at_ms * NS_PER_MS

    def now_ns(self) -> int:
        """Nanoseconds since 1970."""
        return self.at_ns

    def elapsed(self) -> float:
        """Seconds since 1970: nothing takes any time."""
        return self.at_ns / 1e9

    def set(self, at_ms: int) -> None:
        """Sets it."""
        self.at_ns = at_ms * NS_PER_MS

    def true_ns(self, at_ms: int) -> int:
        """When it shows a time."""
        return at_ms * NS_PER_MS

    def shown_ns(self, at_ns: int) -> int:
        """What it shows at a time."""
        return at_ns


class SkewedClock:
    """The clock of a machine that is wrong, and becomes more wrong.

    Args:
        true: The world's clock.
        skew_ms: How far it is ahead when the world begins.
        drift_ppm: How much it gains, in millionths.
    """

    def __init__(self, true: VirtualClock, *, skew_ms: int = 0, drift_ppm: int = 0) -> None:
        self._true = true
        self._begun_ns = true.at_ns
        self._skew_ns = skew_ms * NS_PER_MS
        self._rate = _MILLION + drift_ppm
        """What it shows of a million nanoseconds."""

    def now_ns(self) -> int:
        """Nanoseconds since 1970, as the machine knows them."""
        return self.shown_ns(self._true.at_ns)

    def elapsed(self) -> float:
        """Seconds that only go up."""
        return self.now_ns() / 1e9

    def true_ns(self, at_ms: int) -> int:
        """When it shows a time, by the world's clock: never before."""
        passed = at_ms * NS_PER_MS - self._begun_ns - self._skew_ns
        return self._begun_ns + -(-passed * _MILLION // self._rate)

    def shown_ns(self, at_ns: int) -> int:
        """What it shows at a time of the world's clock."""
        passed = (at_ns - self._begun_ns) * self._rate // _MILLION
        return self._begun_ns + self._skew_ns + passed
