"""How fast large frames are read: whoever sends many of them is read more slowly, others are not.

One large frame takes the loop as long as hundreds of small ones. An address that sends more bytes
in large frames than it may is not read for a while, on the connection that brought the last of
them: the rest waits at the sender.
"""

from typing import Final
from weakref import WeakValueDictionary

from wireloom.wire.rates import Bucket

LARGE: Final = 64 * 1024
"""A frame with more bytes is large."""

BURST_SECONDS: Final = 0.0625
"""What may come in this time may come at once."""


class Pace(Bucket):
    """How fast one address is read: a bucket of bytes in large frames.

    Args:
        per_second: Bytes that it may send.
    """

    __slots__ = ("__weakref__",)

    def __init__(self, per_second: float) -> None:
        super().__init__(per_second * BURST_SECONDS, BURST_SECONDS)


class Paces:
    """The pace of every address that has a connection.

    Args:
        per_second: Bytes in large frames that each may send.
    """

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._by_network: WeakValueDictionary[str, Pace] = WeakValueDictionary()

    def of(self, network: str) -> Pace:
        """The pace of an address without its port; whoever has the connection keeps it."""
        return self._by_network.setdefault(network, Pace(self._per_second))
