"""How frames of a protocol are told from those of others: by their bytes, and by the way they came.

A protocol declares this once, as `RECOGNITION` in its module `recognition`.
"""

from collections.abc import Callable, Hashable
from typing import Final, NamedTuple, Protocol

DISCARD_PORT: Final = 9
"""The discard service: where frames are said to go that have no port of their own."""


class Assembly(NamedTuple):
    """What a datagram has led to."""

    frame: bytes | None
    """The frame that it is or completes; None if it is a piece and others are missing."""

    datagram_count: int = 1
    """How many datagrams the frame came in."""


class Datagrams(Protocol):
    """Takes datagrams one by one and gives the frames that they are or complete."""

    def feed(self, peer: Hashable, raw: bytes, *, now_ms: int) -> Assembly | None:
        """What a datagram leads to; None if it is not of this protocol.

        Args:
            peer: Who sent it.
            raw: The datagram.
            now_ms: When it came.

        Raises:
            WireError: If it is of this protocol, and so damaged that there is no frame to keep.
        """


class WholeDatagrams:
    """Datagrams of a protocol that has one frame in each.

    Args:
        begins: Whether bytes begin as a frame does.
    """

    def __init__(self, begins: Callable[[bytes], bool]) -> None:
        self._begins = begins

    def feed(self, peer: Hashable, raw: bytes, *, now_ms: int) -> Assembly | None:
        """The datagram, if it begins as a frame does."""
        del peer, now_ms
        return Assembly(raw) if self._begins(raw) else None


class Recognition(NamedTuple):
    """What a protocol says about recognising its frames."""

    begins: Callable[[bytes], bool]
    """Whether bytes begin as a frame does. It must hold for every good frame."""

    chance: float
    """How likely random bytes are to begin so. The protocol with the smaller chance goes first."""

    port: int = DISCARD_PORT
    """Where frames go if nobody says otherwise. An export to Wireshark uses it."""

    web_paths: tuple[str, ...] = ()
    """Paths at which a server takes WebSocket connections, without a slash at the end.

    A protocol without any is not looked for in WebSocket messages."""

    web_text: bool = False
    """Whether frames are sent in WebSocket messages of text too, not in binary ones alone."""

    datagrams: Callable[[], Datagrams] | None = None
    """Makes what takes frames out of datagrams; None if the protocol is not carried by them."""

    datagram_port: int | None = None
    """The UDP port whose datagrams are all of this protocol; None if it is looked for on any."""
