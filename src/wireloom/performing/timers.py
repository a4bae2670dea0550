"""Timers by name, in one heap."""

from collections.abc import Hashable, Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Final

_SPARE: Final = 64
"""Entries that were taken back stay in the heap; beyond this many and half of it, it is tidied."""


class Timers:
    """Which timer is due when. A timer has one time; setting it anew replaces that."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Hashable]] = []
        self._current: dict[Hashable, int] = {}
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._current)

    def set(self, timer: Hashable, at_ms: int | None) -> None:
        """Sets a timer, or takes it back with `None`."""
        if at_ms is None:
            self._current.pop(timer, None)
            return
        number = next(self._numbers)
        self._current[timer] = number
        heappush(self._heap, (at_ms, number, timer))
        if len(self._heap) > 2 * len(self._current) + _SPARE:
            self._tidy()

    def due(self, now_ms: int) -> Iterator[Hashable]:
        """The timers whose time has come, earliest first; each is gone once it is given."""
        while (at_ms := self.next_at()) is not None and at_ms <= now_ms:
            _, _, timer = heappop(self._heap)
            del self._current[timer]
            yield timer

    def next_at(self) -> int | None:
        """When the next timer is due."""
        while self._heap:
            at_ms, number, timer = self._heap[0]
            if self._current.get(timer) == number:
                return at_ms
            heappop(self._heap)
        return None

    def _tidy(self) -> None:
        current = self._current
        self._heap = [entry for entry in self._heap if current.get(entry[2]) == entry[1]]
        heapify(self._heap)
