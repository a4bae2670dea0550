"""How long a client waits before it connects again."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """How long to wait before each attempt to reconnect: longer every time, never exactly so."""

    first_seconds: float = 1
    most_seconds: float = 60
    factor: float = 2
    spread: float = 0.2
    """How far a delay may lie off: many clients that lost a server shall not return at once."""

    tries: int = 10
    """After so many that failed the client gives up."""

    def seconds(self, attempt: int, chance: float) -> float:
        """The delay before an attempt.

        Args:
            attempt: How many failed since the connection was lost.
            chance: 0 to 1.
        """
        delay = self.first_seconds
        for _ in range(attempt):
            delay = min(delay * self.factor, self.most_seconds)
        return delay * (1 + self.spread * (2 * chance - 1))
