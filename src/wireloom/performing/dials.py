"""Peers that a session has asked to be connected to: attempts, and what came of them."""

from wireloom.performing.world import Channel
from wireloom.wire.session import Dial


class Dials:
    """Attempts to reach peers, and the connections that answer them.

    An equal dial changes nothing while an attempt is under way or its connection is up.
    """

    def __init__(self) -> None:
        self._attempts: set[Dial] = set()
        self._reached: dict[Dial, Channel] = {}

    def __len__(self) -> int:
        """How many attempts are under way."""
        return len(self._attempts)

    def begin(self, dial: Dial) -> bool:
        """Notes an attempt; returns whether it is to be made."""
        if dial in self._attempts or dial in self._reached:
            return False
        self._attempts.add(dial)
        return True

    def reach(self, dial: Dial, channel: Channel) -> bool:
        """An attempt led to a connection; returns whether that is still wanted."""
        if not self.fail(dial):
            return False
        self._reached[dial] = channel
        return True

    def fail(self, dial: Dial) -> bool:
        """An attempt ended; returns whether it was still wanted."""
        is_wanted = dial in self._attempts
        self._attempts.discard(dial)
        return is_wanted

    def connection(self, dial: Dial) -> Channel | None:
        """The connection that answers a dial, while it is up."""
        return self._reached.get(dial)

    def drop(self, channel: Channel) -> None:
        """A connection ended: its peer may be dialled again."""
        if channel.dial is not None and self._reached.get(channel.dial) is channel:
            del self._reached[channel.dial]
