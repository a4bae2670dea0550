"""When what is kept under a key ends, earliest first."""

from collections.abc import Container, Hashable, Iterator
from heapq import heapify, heappop, heappush
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)

_SPARE: Final = 64
"""Entries of keys that are gone stay in the heap; beyond this many and half of it, they go."""


class Deadlines(Generic[K]):
    """A heap of deadlines over something that is kept elsewhere.

    What is taken out there needs no word here: its deadline is passed over.

    Args:
        kept: The keys that still are kept.
    """

    __slots__ = ("_heap", "_kept")

    def __init__(self, kept: "Container[K]") -> None:
        self._heap: list[tuple[int, K]] = []
        self._kept = kept

    def __len__(self) -> int:
        """How many entries the heap has, stale ones included."""
        return len(self._heap)

    def add(self, key: K, at_ms: int) -> None:
        """Notes when a key ends."""
        heappush(self._heap, (at_ms, key))

    def tidy(self, count: int) -> None:
        """Drops stale entries when they are many; `count` is how many keys are kept."""
        if len(self._heap) > 2 * count + _SPARE:
            self._heap = [entry for entry in self._heap if entry[1] in self._kept]
            heapify(self._heap)

    @property
    def next_ms(self) -> int | None:
        """When the next key ends; None if nothing is kept."""
        heap, kept = self._heap, self._kept
        while heap and heap[0][1] not in kept:
            heappop(heap)
        return heap[0][0] if heap else None

    def due(self, now_ms: int) -> Iterator[K]:
        """Keys that end now or earlier, earliest first; each is gone from here once it is given."""
        while (at_ms := self.next_ms) is not None and at_ms <= now_ms:
            yield heappop(self._heap)[1]
