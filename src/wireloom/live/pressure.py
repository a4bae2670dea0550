"""Who reads too slowly: connections on which more waits to leave than should.

The session hears of each when it passes a mark, either way, and several times a second in
between. What it does not cut is cut here when all together hold too much.
"""

from collections.abc import Callable, Iterator
from typing import Final

from wireloom.live.links.connection import Connection
from wireloom.wire.session import Congested

TICK_SECONDS: Final = 0.1
"""How often the session hears of a connection that stays slow."""

MAX_TOTAL_BYTES: Final = 512 * 1024 * 1024
"""What may wait on all slow connections together before the worst are cut."""


class Pressure:
    """Keeps the slow connections of one driver.

    Args:
        cut: Ends a connection whose peer does not read.
        max_total_bytes: What may wait on all of them together.
    """

    def __init__(
        self, cut: Callable[[Connection], None], *, max_total_bytes: int = MAX_TOTAL_BYTES
    ) -> None:
        self._cut = cut
        self._max_total_bytes = max_total_bytes
        self._slow: dict[Connection, int] = {}
        self._noted: dict[Connection, None] = {}

    def __len__(self) -> int:
        return len(self._slow)

    def note(self, connection: Connection) -> None:
        """A connection passed a mark."""
        self._noted[connection] = None

    def forget(self, connection: Connection) -> None:
        """A connection went away."""
        self._noted.pop(connection, None)
        self._slow.pop(connection, None)

    def noted(self) -> Iterator[Congested]:
        """What the session is to hear of connections that passed a mark."""
        while self._noted:
            connection, _ = self._noted.popitem()
            yield self._weighed(connection)

    def tick(self) -> Iterator[Congested]:
        """What the session is to hear of connections that stay slow; cuts the worst if need be."""
        for connection, before in tuple(self._slow.items()):
            if connection.buffered() != before:
                yield self._weighed(connection)
        while self._slow and sum(self._slow.values()) > self._max_total_bytes:
            worst = max(self._slow, key=self._slow.__getitem__)
            self.forget(worst)
            self._cut(worst)

    def named(self) -> list[tuple[str, int]]:
        """Who is slow, and how many bytes wait for each."""
        return [(connection.name, size) for connection, size in self._slow.items()]

    def _weighed(self, connection: Connection) -> Congested:
        frames, size = connection.backlog()
        if size:
            self._slow[connection] = size
        else:
            self._slow.pop(connection, None)
        return Congested(connection.line, frames, size)
