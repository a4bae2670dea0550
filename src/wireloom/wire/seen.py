"""What was seen lately, in bounded memory.

There are two generations. When the younger one is old or full, by number or by bytes, it becomes
the older one, and the older one is forgotten: nothing is searched, and nothing grows.
"""

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Seen(Generic[K, V]):
    """The latest keys, each with what is known of it.

    Args:
        max_count: How many keys are kept in all; at least half as many are remembered.
        max_size: How many bytes they may have in all; None for no bound.
        span_ms: How long a key is remembered at least, and half of how long at most; None for as
            long as there is room.
    """

    __slots__ = (
        "_born_ms",
        "_max_count",
        "_max_size",
        "_old",
        "_old_size",
        "_span_ms",
        "_young",
        "_young_size",
    )

    def __init__(
        self, max_count: int, *, max_size: int | None = None, span_ms: int | None = None
    ) -> None:
        self._max_count = max(1, max_count // 2)
        self._max_size = float("inf") if max_size is None else max_size // 2
        self._span_ms = float("inf") if span_ms is None else span_ms
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._young_size = self._old_size = 0
        self._born_ms = 0

    @property
    def size(self) -> int:
        """Bytes of all that is remembered."""
        return self._young_size + self._old_size

    def get(self, key: K, now_ms: int) -> V | None:
        """What is known of a key; None if it was not seen, or too long ago."""
        if now_ms - self._born_ms >= self._span_ms:
            self._begin(now_ms)
        found = self._young.get(key)
        return self._old.get(key) if found is None else found

    def put(self, key: K, value: V, size: int = 0) -> None:
        """Remembers a key, and how many bytes it takes."""
        young = self._young
        young[key] = value
        self._young_size += size
        if len(young) >= self._max_count or self._young_size >= self._max_size:
            self._begin(self._born_ms)

    def has(self, key: K, value: V) -> bool:
        """Whether a key was seen with this value, however long ago."""
        return self._young.get(key) == value or self._old.get(key) == value

    def add(self, key: K, value: V) -> bool:
        """Remembers a key that was not seen with this value; gives whether it was not.

        It is `has` and `put` in one call, for what comes with every frame.
        """
        young = self._young
        if young.get(key) == value or self._old.get(key) == value:
            return False
        young[key] = value
        if len(young) >= self._max_count:
            self._begin(self._born_ms)
        return True

    def _begin(self, now_ms: int) -> None:
        """Begins a generation; what was the older one is forgotten."""
        self._old, self._young = self._young, {}
        self._old_size, self._young_size = self._young_size, 0
        self._born_ms = now_ms
