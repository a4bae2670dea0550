"""What a client takes from outside (time, chance), and how patient it is."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from wireloom.live.clock import SystemClock
from wireloom.performing.world import Clock
from wireloom.protocols.signalhub.constants import DEAD_AFTER_MS
from wireloom.wire.client.backoff import Backoff


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Time, chance and patience of a client; the defaults are the specifications'."""

    backoff: Backoff = Backoff()  # noqa: RUF009, it is frozen
    """How long to wait before attempts to reconnect."""

    clock: Clock = SystemClock()  # noqa: RUF009, it has no state
    """What time it is."""

    random: Callable[[], float] = random.random
    """A number from 0 to 1."""

    dial_seconds: float = 10
    """How long a connection may take to open."""

    dead_after_seconds: float = DEAD_AFTER_MS / 1_000
    """Without an answer to a heartbeat for so long, the connection is dead."""

    goodbye_seconds: float = 2
    """How long a close in good order may take."""

    inbox_limit: int = 1_000
    """Messages that wait to be read. When there are more, the client stops reading, except while
    it waits for an answer; a server takes it for slow then."""
