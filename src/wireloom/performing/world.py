"""What performing needs of the world around a session: connections, records, a tap and a clock.

There are two worlds: `live` has sockets, a disk and the system's clock, `sim` has none of them.
"""

from collections import Counter, deque
from collections.abc import Hashable, Sequence
from typing import Final, Protocol

from wireloom.capture.meanings import Party
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Close, Compute, Dial, Line, Send, Swarm

NS_PER_MS: Final = 1_000_000


class Channel(Protocol):
    """One connection, as far as performing is concerned."""

    line: Line
    """Its number; the runner gives it one."""

    protocol: str
    """What is spoken on it; the runner says so."""

    link: str
    """The link's name, for sessions and the capture log."""

    swarm: Swarm | None
    """The swarm that it is a connection of, where frames do not say that."""

    peer: str
    """The other end's address."""

    name: str
    """Who is there: the address until the session knows better."""

    identity: str | None
    """Who the transport has proven the peer to be."""

    token: str | None
    """A bearer token that came with the connection."""

    dial: Dial | None
    """The command that it answers, if the session asked for it."""

    is_admitted: bool
    """Whether the session knows who is there."""

    held: deque[tuple[int, Send | Close]]
    """What waits for records, and what may not overtake that; see `waiting`."""

    def put(self, raw: bytes, text: bool, /) -> None:  # noqa: FBT001 - most calls of all
        """Takes a frame that leaves when frames are let out."""
        ...

    def close(self, code: int, reason: str, /) -> None:
        """Ends the connection, after what was put has left."""
        ...

    def admit(self) -> None:
        """Ends what holds for strangers."""
        ...


class Connections(Protocol):
    """What a world does about connections other than to carry frames on one."""

    def let_out(self) -> None:
        """Lets leave all that was put, in the middle of a turn."""
        ...

    def admitted(self, channel: Channel, /) -> None:
        """A peer has said who it is; its channel has the name."""
        ...

    def dial(self, dial: Dial, /) -> None:
        """Begins to reach a peer; the runner is told what came of it, after this has returned."""
        ...

    def abandon(self, dial: Dial, /) -> None:
        """Ends an attempt; nothing more is told of it."""
        ...


class Records(Protocol):
    """Where records are kept across a crash."""

    def put(self, key: tuple[str, str, str], value: bytes | None, /) -> int:
        """Takes a record under protocol, kind and key, or `None` to forget it; returns its ticket.

        Tickets never become smaller. The runner is told up to which one all is kept.
        """
        ...


class Workers(Protocol):
    """Who computes what takes long, beside the session."""

    def compute(self, compute: Compute, /) -> None:
        """Begins a job; the runner hears `Computed` after this has returned."""
        ...

    def cancel(self, task: Hashable, /) -> None:
        """Ends a job; nothing more is told of it."""
        ...


class Rows(Protocol):
    """Frames that are captured together."""

    def add(self, connection: Party, meaning: int, frame: bytes, /) -> None:
        """Adds a frame."""
        ...

    def add_all(
        self, connections: Sequence[Party], meaning: int, frames: Sequence[bytes], /
    ) -> None:
        """Adds a frame for each connection."""
        ...

    def at(self, now: int, /) -> None:
        """Says when all that was added since the last call happened, in ns."""
        ...


class Tap(Protocol):
    """Where frames are captured."""

    @property
    def rows(self) -> Rows:
        """Where they are added now; another object after frames were let out."""
        ...


class Clock(Protocol):
    """What time it is."""

    def now_ns(self) -> int:
        """Nanoseconds since 1970; it may be set back."""
        ...

    def elapsed(self) -> float:
        """Seconds since some moment; they only go up. For how long things take."""
        ...


class Counts(Protocol):
    """Where frames are counted."""

    received: Counter[tuple[str | None, Outcome, Reason | None]]
    """Frames that came in, by type, outcome and reason."""

    sent: Counter[Outcome | None]
    """Frames that left, by what leaving meant for them."""


def now_ms(clock: Clock) -> int:
    """Milliseconds since 1970, as sessions count time."""
    return clock.now_ns() // NS_PER_MS
