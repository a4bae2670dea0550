"""How fast messages leave that are for several clients, or that waited (R48).

One message to many, or many messages that waited for one, can be far more than came in. So they
leave in slices, with time in between for others and for the capture, and while too much waits to
leave for all clients together, only what is small leaves, for clients that read.

A session knows no turns of a loop. Events with the same time belong to one turn as far as can be
told, and a timer that is set to a later millisecond fires in another.
"""

from typing import Final

from wireloom.protocols.cthun.broker.clients import Client
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.constants import SMALL_SIZE
from wireloom.wire.session import Line

_SLICE_MS: Final = 16
"""So long after a whole slice the next one may leave."""


class Pace:
    """What may leave now.

    Args:
        settings: The broker's.
    """

    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings
        self._rate = max(1, settings.slice_size // _SLICE_MS)
        self._turn_ms = 0
        self._count_left = settings.burst_count
        self._size_left = settings.slice_size
        self._unsent: dict[Line, int] = {}
        self._unsent_size = 0
        self.is_crowded = False
        """Whether too much waits to leave for all clients together."""

    def admits(self, client: Client, size: int) -> bool:
        """Whether a frame of this size may leave for a client that reads, or waits for others."""
        return not self.is_crowded or (not client.unsent_size and size <= SMALL_SIZE)

    def room(self, size: int, now_ms: int) -> int:
        """How many frames of this size may leave now: one at least, if any."""
        if now_ms != self._turn_ms:
            gained = max(0, now_ms - self._turn_ms) * self._rate
            self._size_left = min(self._settings.slice_size, self._size_left + gained)
            self._count_left = self._settings.burst_count
            self._turn_ms = now_ms
        return -(-max(0, self._size_left) // size)

    def next_ms(self, now_ms: int) -> int:
        """When something more may leave, in another turn than this one."""
        return now_ms + max(1, -self._size_left // self._rate + 1)

    def spend(self, count: int, size: int) -> None:
        """So many frames of this size leave."""
        self._size_left -= count * size

    def grant(self, size: int, now_ms: int) -> bool:
        """Whether one more frame that waited may leave in this turn; it counts as gone."""
        if not self.room(size, now_ms) or not self._count_left:
            return False
        self._count_left -= 1
        self.spend(1, size)
        return True

    def weigh(self, client: Client, size: int) -> bool:
        """Notes what waits to leave for a client; gives whether it is no longer crowded."""
        self._unsent_size += size - self._unsent.pop(client.line, 0)
        client.unsent_size = size
        if size:
            self._unsent[client.line] = size
        was_crowded = self.is_crowded
        most = self._settings.crowded_size
        self.is_crowded = self._unsent_size >= (most // 2 if was_crowded else most)
        return was_crowded and not self.is_crowded
