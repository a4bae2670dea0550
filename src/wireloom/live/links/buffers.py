"""What connections keep to read large frames into.

The library's buffer grows with the largest frame of its connection and never shrinks (picows 2.3),
so it counts for as long as the connection lasts. When all together keep too much, the address that
keeps most loses the connection that keeps most.
"""

from collections import Counter
from typing import Protocol


class Holder(Protocol):
    """A connection that holds a buffer."""

    network: str
    """The address that it comes from, without the port."""

    def cut(self) -> None:
        """Ends the connection; `Buffers.forget` follows."""
        ...


class Buffers:
    """Large buffers of all connections.

    Args:
        max_bytes: What they may have together.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._sizes: dict[Holder, int] = {}
        self._by_network: Counter[str] = Counter()
        self.total = 0

    def grow(self, holder: Holder, size: int) -> None:
        """A frame of so many bytes begins; somebody is cut if that is too much in all."""
        more = size - self._sizes.get(holder, 0)
        if more <= 0:
            return
        self._sizes[holder] = size
        self._by_network[holder.network] += more
        self.total += more
        while self.total > self._max_bytes:
            worst = max(self._by_network, key=self._by_network.__getitem__)
            largest = max(
                (one for one in self._sizes if one.network == worst), key=self._sizes.__getitem__
            )
            self.forget(largest)
            largest.cut()

    def forget(self, holder: Holder) -> None:
        """A connection went away, with its buffer."""
        size = self._sizes.pop(holder, 0)
        if size:
            self.total -= size
            self._by_network[holder.network] -= size
            if not self._by_network[holder.network]:
                del self._by_network[holder.network]
