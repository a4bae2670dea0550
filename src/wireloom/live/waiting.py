"""What waits for the disk: commands that may not be performed before a record is kept.

Each waits under the ticket of its record. Tickets are counted upwards, and what was put on a
connection after something that waits, waits behind it.
"""

from collections import deque
from collections.abc import Iterator, KeysView

from wireloom.live.links.connection import Connection
from wireloom.wire.session import Close, Send


class Waiting:
    """All that waits: commands by connection, and items for the application."""

    def __init__(self) -> None:
        self._connections: dict[Connection, None] = {}
        self._items: deque[tuple[int, object]] = deque()
        self.size = 0
        """Bytes of the frames that wait."""

    def __len__(self) -> int:
        return sum(len(one.held) for one in self._connections) + len(self._items)

    @property
    def connections(self) -> KeysView[Connection]:
        """Those on which something waits."""
        return self._connections.keys()

    @property
    def has_items(self) -> bool:
        """Whether an item waits."""
        return bool(self._items)

    def add(self, connection: Connection, ticket: int, command: Send | Close) -> None:
        """Lets a command wait; without a ticket, behind what waits on its connection."""
        connection.held.append((ticket or connection.held[-1][0], command))
        self.size += _size(command)
        self._connections[connection] = None

    def add_item(self, ticket: int, item: object) -> None:
        """Lets an item wait; without a ticket, behind the items that wait."""
        self._items.append((ticket or self._items[-1][0], item))

    def forget(self, connection: Connection) -> None:
        """Drops what waits for a connection."""
        self._connections.pop(connection, None)
        self.size -= sum(_size(command) for _, command in connection.held)
        connection.held.clear()

    def commands(self, ticket: int) -> Iterator[tuple[Connection, Send | Close]]:
        """Takes the commands whose records are on disk, up to this ticket."""
        for connection in tuple(self._connections):
            held = connection.held
            while held and held[0][0] <= ticket:
                command = held.popleft()[1]
                self.size -= _size(command)
                yield connection, command
            if not held:
                self._connections.pop(connection, None)

    def items(self, ticket: int) -> Iterator[object]:
        """Takes the items whose records are on disk, up to this ticket."""
        while self._items and self._items[0][0] <= ticket:
            yield self._items.popleft()[1]


def _size(command: Send | Close) -> int:
    return len(command.raw) if isinstance(command, Send) else 0
