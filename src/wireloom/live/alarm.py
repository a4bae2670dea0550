"""Wakes the event loop when the next timer is due."""

import asyncio
from collections.abc import Callable
from typing import Final

MAX_SLEEP_MS: Final = 60_000
"""The time of day may be set: timers are looked at this often at least."""


class Alarm:
    """Rings at the earliest time that it was set to.

    Args:
        ring: Called then.
    """

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None
        self._at_ms = 0

    def set(self, at_ms: int | None, now_ms: int) -> None:
        """Sets it to a time, unless it rings before that anyway."""
        if at_ms is None or (self._handle is not None and self._at_ms <= at_ms):
            return
        self.cancel()
        self._at_ms = at_ms
        sleep_ms = min(max(0, at_ms - now_ms), MAX_SLEEP_MS)
        self._handle = self._loop.call_later(sleep_ms / 1000, self._rings)

    def cancel(self) -> None:
        """Keeps it from ringing."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _rings(self) -> None:
        self._handle = None
        self._ring()
