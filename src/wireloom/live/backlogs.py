"""What waits to leave on all connections of a node together, in bytes.

Every write that the system does not take whole is noted, on connections of all endpoints. When
all together hold too much, those on which most waits are cut, at once and not at the end of a turn.
"""

from typing import Final

from wireloom.live.links.connection import Connection

MAX_BYTES: Final = 512 * 1024 * 1024
"""What may wait on all connections of a node."""


class Backlogs:
    """The connections on which something waits.

    Args:
        max_bytes: What may wait on all of them together.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._sizes: dict[Connection, int] = {}
        self.total = 0
        """Bytes that waited when each was last looked at."""

    def note(self, connection: Connection, size: int) -> None:
        """So much waits on a connection now; too much in all, and the worst are cut."""
        self.total += size - self._sizes.get(connection, 0)
        self._sizes[connection] = size
        if self.total > self._max_bytes:
            self._relieve()

    def forget(self, connection: Connection) -> None:
        """A connection went away, and what waited on it."""
        self.total -= self._sizes.pop(connection, 0)

    def _relieve(self) -> None:
        """Weighs all anew, and if that does not help, cuts the worst until an eighth is free.

        Less would have the next write weigh all of them again.
        """
        weighed = {one: one.buffered() for one in self._sizes}
        self._sizes = {one: size for one, size in weighed.items() if size}
        self.total = sum(weighed.values())
        for worst in sorted(self._sizes, key=self._sizes.__getitem__, reverse=True):
            if self.total <= self._max_bytes - self._max_bytes // 8:
                break
            self.forget(worst)
            worst.host.stalled(worst)
