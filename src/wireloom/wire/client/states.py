"""The states of a client's connection, and what leads from one to the next."""

from enum import Enum, auto
from typing import Final


class State(Enum):
    """How far a client is."""

    CLOSED = auto()
    """It has no connection and wants none."""

    DIALLING = auto()
    """A connection is being made."""

    GREETING = auto()
    """It has told the server who it is, and waits for the answer."""

    RESTORING = auto()
    """What the last connection had is made again."""

    UP = auto()
    """Requests may leave."""

    RESTING = auto()
    """The connection was lost; the next attempt comes later."""


class Step(Enum):
    """What can happen to a connection."""

    OPEN = auto()
    CONNECTED = auto()
    ACCEPTED = auto()
    RESTORED = auto()
    LOST = auto()
    RETRY = auto()
    ENDED = auto()


TRANSITIONS: Final[dict[State, dict[Step, State]]] = {
    State.CLOSED: {Step.OPEN: State.DIALLING},
    State.DIALLING: {
        Step.CONNECTED: State.GREETING,
        Step.LOST: State.RESTING,
        Step.ENDED: State.CLOSED,
    },
    State.GREETING: {
        Step.ACCEPTED: State.RESTORING,
        Step.LOST: State.RESTING,
        Step.ENDED: State.CLOSED,
    },
    State.RESTORING: {
        Step.RESTORED: State.UP,
        Step.LOST: State.RESTING,
        Step.ENDED: State.CLOSED,
    },
    State.UP: {Step.LOST: State.RESTING, Step.ENDED: State.CLOSED},
    State.RESTING: {Step.RETRY: State.DIALLING, Step.ENDED: State.CLOSED},
}
