"""What a captured frame means: which way it went, what became of it, and why.

A row of the capture has the number of its meaning. Whoever adds rows needs no more than this
module, which loads nothing heavy.
"""

from typing import Final, NamedTuple, Protocol

from wireloom.wire.outcome import Direction, Outcome, Reason
from wireloom.wire.session import Conclude, Swarm

MEANINGS: Final = (
    *((Direction.OUT, outcome, None) for outcome in (None, *Outcome)),
    *((Direction.IN, outcome, None) for outcome in Outcome),
    *((Direction.IN, Outcome.REJECTED, reason) for reason in Reason),
    (Direction.LOCAL, None, None),
)
"""All that a row can say of a frame: which way, what became of it, why. Rows have the number."""

SENT: Final = {outcome: n for n, (way, outcome, _) in enumerate(MEANINGS) if way == Direction.OUT}
"""The meaning of a frame that left, by its outcome."""

RECEIVED: Final = {
    (outcome, reason): n for n, (way, outcome, reason) in enumerate(MEANINGS) if way == Direction.IN
}
"""The meaning of a frame that came in, by its outcome and the reason."""

COMPOSED: Final = len(MEANINGS) - 1
"""The meaning of a frame that was composed here and left for nobody."""


def meaning_of(conclusion: Conclude) -> int:
    """The meaning of a frame that came in; a reason counts only where something was rejected."""
    outcome = conclusion.outcome
    return RECEIVED.get((outcome, conclusion.reason), RECEIVED[outcome, None])


class Party(Protocol):
    """A peer that a frame came from or goes to: its connection, as long as these rows."""

    @property
    def protocol(self) -> str:
        """What is spoken with it."""
        ...

    @property
    def name(self) -> str:
        """Who it is."""
        ...

    @property
    def link(self) -> str:
        """How it is reached."""
        ...

    @property
    def swarm(self) -> Swarm | None:
        """The swarm that both belong to, where frames do not say that."""
        ...


class Absent(NamedTuple):
    """Stands for the connection of a frame that was composed for a peer that is not there."""

    protocol: str
    name: str
    link: str = "local"
    swarm: Swarm | None = None
