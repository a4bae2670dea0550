"""Who reads too slowly: connections on which more waits to leave than should.

The session hears of each when it passes a mark, either way, and several times a second in
between. What it does not cut, `backlogs` does when all together hold too much.
"""

from collections.abc import Iterator
from typing import Final

from wireloom.live.links.connection import Connection
from wireloom.wire.session import Congested

TICK_SECONDS: Final = 0.1
"""How often the session hears of a connection that stays slow."""


class Pressure:
    """Keeps the slow connections of one driver."""

    def __init__(self) -> None:
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
        """What the session is to hear of connections that stay slow."""
        for connection, before in tuple(self._slow.items()):
            if connection.buffered() != before:
                yield self._weighed(connection)

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
