"""What waits for records: commands that may not be performed before a record is kept.

Each waits under the ticket of its record. Tickets are counted upwards, and what was put on a
channel after something that waits, waits behind it.
"""

from collections import deque
from collections.abc import Iterator, KeysView

from wireloom.performing.world import Channel
from wireloom.wire.session import Close, Send


class Waiting:
    """All that waits: commands by channel, and items for the application."""

    def __init__(self) -> None:
        self._channels: dict[Channel, None] = {}
        self._items: deque[tuple[int, object]] = deque()
        self.size = 0
        """Bytes of the frames that wait."""

    def __len__(self) -> int:
        return sum(len(one.held) for one in self._channels) + len(self._items)

    @property
    def channels(self) -> KeysView[Channel]:
        """Those on which something waits."""
        return self._channels.keys()

    @property
    def has_items(self) -> bool:
        """Whether an item waits."""
        return bool(self._items)

    def add(self, channel: Channel, ticket: int, command: Send | Close) -> None:
        """Lets a command wait; without a ticket, behind what waits on its channel."""
        channel.held.append((ticket or channel.held[-1][0], command))
        self.size += _size(command)
        self._channels[channel] = None

    def add_item(self, ticket: int, item: object) -> None:
        """Lets an item wait; without a ticket, behind the items that wait."""
        self._items.append((ticket or self._items[-1][0], item))

    def forget(self, channel: Channel) -> None:
        """Drops what waits for a channel."""
        self._channels.pop(channel, None)
        self.size -= sum(_size(command) for _, command in channel.held)
        channel.held.clear()

    def commands(self, ticket: int) -> Iterator[tuple[Channel, Send | Close]]:
        """Takes the commands whose records are kept, up to this ticket."""
        for channel in tuple(self._channels):
            held = channel.held
            while held and held[0][0] <= ticket:
                command = held.popleft()[1]
                self.size -= _size(command)
                yield channel, command
            if not held:
                self._channels.pop(channel, None)

    def items(self, ticket: int) -> Iterator[object]:
        """Takes the items whose records are kept, up to this ticket."""
        while self._items and self._items[0][0] <= ticket:
            yield self._items.popleft()[1]


def _size(command: Send | Close) -> int:
    return len(command.raw) if isinstance(command, Send) else 0
