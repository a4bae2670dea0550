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

        self.last_ticket = 0
        """That of the last record that was put."""

        self._under_way: deque[tuple[int, Key, bytes | None]] = deque()

    def __len__(self) -> int:
        """How many are on their way."""
        return len(self._under_way)

    def put(self, key: tuple[str, str, str], value: bytes | None) -> int:
        """Takes a record, or `None` to forget it; returns its ticket."""
        _, kind, name = key
        self.last_ticket += 1
        self._under_way.append((self.last_ticket, (kind, name), value))
        return self.last_ticket

    def sync(self, ticket: int | None = None) -> int:
        """Keeps what was put up to a ticket, or all; returns up to which one all is kept."""
        reached = self.last_ticket if ticket is None else ticket
        while self._under_way and self._under_way[0][0] <= reached:
            self._keep()
        return reached

    def crash(self, kept: int = 0) -> None:
        """Loses what was on its way, except for so many that got to the disk before.

        The one after those was being written: it is torn, and lost.
        """
        for _ in range(min(kept, len(self._under_way))):
            self._keep()
        self._under_way.clear()

    def stored(self) -> list[Store]:
        """What the next life gets back."""
        return [Store(kind, key, value) for (kind, key), value in self.kept.items()]

    def _keep(self) -> None:
        _, key, value = self._under_way.popleft()
        if value is None:
            self.kept.pop(key, None)
        else:
            self.kept[key] = value
