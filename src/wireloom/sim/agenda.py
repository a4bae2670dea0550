"""What is to happen, by the time at which it does."""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import Any

Call = Callable[..., object]
Entry = tuple[int, int, Call, tuple[Any, ...]]
"""When, in which place among those of the same time, what, and with what."""


class Agenda:
    """All that is to happen later; what is due at the same time keeps its order."""

    def __init__(self) -> None:
        self._heap: list[Entry] = []
        self._number = 0

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[tuple[Call, tuple[Any, ...]]]:
        """What is to happen, in no order."""
        return ((call, args) for _, _, call, args in self._heap)

    def put(self, at_ns: int, call: Call, *args: object) -> None:
        """Has something happen."""
        self._number += 1
        heappush(self._heap, (at_ns, self._number, call, args))

    def take(self, until_ns: int) -> Entry | None:
        """What happens next, if it does by then."""
        heap = self._heap
        return heappop(heap) if heap and heap[0][0] <= until_ns else None
