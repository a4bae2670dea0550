"""What a simulated machine keeps across a crash."""

from collections import deque

from wireloom.wire.session import Store

Key = tuple[str, str]
"""Kind and key of a record."""


class MemoryRecords:
    """Records of one session: those that are kept, and those on their way there."""

    def __init__(self) -> None:
        self.kept: dict[Key, bytes] = {}
        """What a crash leaves, in the order in which it was first stored."""

        self.is_slow = False
        """Whether records stay on their way until `sync`; else they are kept when a turn ends."""

        self._under_way: deque[tuple[Key, bytes | None]] = deque()
        self._ticket = 0

    def __len__(self) -> int:
        """How many are on their way."""
        return len(self._under_way)

    def put(self, key: tuple[str, str, str], value: bytes | None) -> int:
        """Takes a record, or `None` to forget it; returns its ticket."""
        _, kind, name = key
        self._under_way.append(((kind, name), value))
        self._ticket += 1
        return self._ticket

    def sync(self) -> int:
        """Keeps all that was put; returns the last ticket."""
        while self._under_way:
            key, value = self._under_way.popleft()
            if value is None:
                self.kept.pop(key, None)
            else:
                self.kept[key] = value
        return self._ticket

    def crash(self) -> None:
        """Loses what was on its way."""
        self._under_way.clear()

    def stored(self) -> list[Store]:
        """What the next life gets back."""
        return [Store(kind, key, value) for (kind, key), value in self.kept.items()]
