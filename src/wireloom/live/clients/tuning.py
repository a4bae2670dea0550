"""What a client takes from outside (time, chance), and how patient it is."""

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from wireloom.protocols.signalhub.constants import DEAD_AFTER_MS


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


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _new_id() -> str:
    return str(uuid.uuid4())


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Time, chance and patience of a client; the defaults are the specifications'."""

    backoff: Backoff = Backoff()
    now_ms: Callable[[], int] = _now_ms
    """The time, in ms since 1970."""

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    """Waits for so many seconds: before attempts to reconnect and between heartbeats."""

    random: Callable[[], float] = random.random
    """A number from 0 to 1."""

    new_id: Callable[[], str] = _new_id
    """A UUID that no message had before."""

    dial_seconds: float = 10
    """How long a connection may take to open."""

    dead_after_seconds: float = DEAD_AFTER_MS / 1_000
    """Without an answer to a heartbeat for so long, the connection is dead."""

    goodbye_seconds: float = 2
    """How long a close in good order may take."""

    inbox_limit: int = 1_000
    """Messages that wait to be read. When there are more, the client stops reading, except while
    it waits for an answer; a server takes it for slow then."""
