"""The broker's view of one connection."""

from enum import Enum, auto

from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Conclude, Line


class State(Enum):
    """How far a connection has come; it never goes back."""

    OPEN = auto()
    """It may associate, and nothing else."""

    ASSOCIATED = auto()
    CLOSING = auto()
    """The broker has ended it: nothing it still says counts."""


class Client:
    """One connection and who is at its end.

    Args:
        line: The connection.
        identity: The common name that the transport has proven, if it has proven one.
        now_ms: When it came up.
    """

    __slots__ = (
        "active_ms",
        "forwarded",
        "identity",
        "line",
        "ready",
        "stalled",
        "state",
        "unread_size",
        "uri",
    )

    def __init__(self, line: Line, identity: str | None, now_ms: int) -> None:
        self.line = line
        self.identity = identity
        self.state = State.OPEN
        self.uri: str | None = None
        """Who it is, from its association on."""
        self.forwarded = Conclude(Outcome.FORWARDED)
        """What becomes of most frames it sends, made once: most traffic needs no other."""
        self.active_ms = now_ms
        """When a message last went either way."""
        self.stalled = False
        """Whether it reads more slowly than it is sent to."""
        self.ready = False
        """Whether a message can go to it at once: it reads, and none is held for it."""
        self.unread_size = 0
        """Bytes that the broker has said to it since it stalled."""

    def associate(self, uri: str) -> None:
        """Makes it known as `uri`."""
        self.state = State.ASSOCIATED
        self.uri = uri
        self.forwarded = Conclude(Outcome.FORWARDED, None, uri)
