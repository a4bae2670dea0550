"""The broker's view of one connection."""

from enum import Enum, auto
from typing import Final

from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Conclude, Line
from wireloom.wire.shares import network
from wireloom.wire.states import advance


class State(Enum):
    """How far a connection has come; it never goes back."""

    OPEN = auto()
    """It may associate, and nothing else."""

    ASSOCIATED = auto()
    CLOSING = auto()
    """The broker has ended it, or it is gone: nothing that it still says counts."""


class Step(Enum):
    """What leads a connection from one state to another."""

    ASSOCIATE = auto()
    """The broker takes it for the client that it says it is."""

    CLOSE = auto()
    """The broker ends it."""

    LOSE = auto()
    """It went away."""


TRANSITIONS: Final = {
    State.OPEN: {
        Step.ASSOCIATE: State.ASSOCIATED,
        Step.CLOSE: State.CLOSING,
        Step.LOSE: State.CLOSING,
    },
    State.ASSOCIATED: {Step.CLOSE: State.CLOSING, Step.LOSE: State.CLOSING},
    State.CLOSING: {Step.LOSE: State.CLOSING},
}
"""A pair that is not here is a fault of the broker's own."""


def owner(identity: str | None, peer: str) -> str:
    """Whose share a client takes from: its proven name's, or else its network's (R32).

    Args:
        identity: The common name that was proven, if one was.
        peer: The address, as `host:port`.
    """
    return f"network {network(peer)}" if identity is None else f"name {identity}"


class Client:
    """One connection and who is at its end.

    Args:
        line: The connection.
        identity: The common name that the transport has proven, if it has proven one.
        now_ms: When it came up.
        peer: Its address.
    """

    __slots__ = (
        "active_ms",
        "early_count",
        "forwarded",
        "identity",
        "line",
        "owner",
        "ready",
        "stalled",
        "state",
        "told_ms",
        "told_size",
        "unread_size",
        "unsent_size",
        "uri",
    )

    def __init__(self, line: Line, identity: str | None, now_ms: int, peer: str = "") -> None:
        self.line = line
        self.identity = identity
        self.owner = owner(identity, peer)
        """Whose share of the holding its messages take."""
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
        self.unsent_size = 0
        """Bytes that wait to leave for it, as far as is known."""
        self.told_ms = 0
        self.told_size = 0
        """Bytes that the broker has said to it in that millisecond."""
        self.early_count = 0
        """Frames that it sent before its association."""

    def advance(self, step: Step) -> None:
        """Takes a step."""
        self.state = advance(TRANSITIONS, self.state, step)
        self.ready = self.ready and self.state is State.ASSOCIATED

    def associate(self, uri: str) -> None:
        """Makes it known as `uri`."""
        self.advance(Step.ASSOCIATE)
        self.uri = uri
        self.forwarded = Conclude(Outcome.FORWARDED, None, uri)
