"""What a session is told and what it wants done.

A session is one end of a protocol: a hub, a broker, a node, a client. It is told of events, one
at a time and with the time of day, and answers with commands. It performs none of them, has no
clock and no source of chance of its own, so one session runs on sockets, on a simulated network
and in a test that reads like a transcript.

Commands are performed in their order. What a `Store` or `Forget` writes is on disk before
any later `Send`, `Spread`, `Close` or `Deliver` of the same answer is performed: what a session
promises on the wire, it can keep after a crash.

A `FrameReceived` or `FrameRefused` is answered with exactly one `Conclude`: every frame has one
outcome.

Events and commands are made and forgotten with every frame. They are structs of which the garbage
collector keeps no list: nothing else is made as fast, and nothing they hold leads back to them.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Protocol

from msgspec import Struct

from wireloom.wire.outcome import Outcome, Reason

Line = int
"""A connection, by a number that the driver never uses twice."""


class Opened(Struct, frozen=True, gc=False):
    """A connection came up."""

    line: Line
    peer: str
    """Its address, for people."""

    identity: str | None = None
    """Who the transport has proven it to be (the certificate's common name)."""

    token: str | None = None
    """A bearer token that came with the connection."""


class FrameReceived(Struct, frozen=True, gc=False):
    """One whole frame came in."""

    line: Line
    raw: bytes
    text: bool = False
    """Whether the transport calls it text."""


class FrameRefused(Struct, frozen=True, gc=False):
    """A frame above the connection's limit began to come in; the link does not read it.

    The session answers it like a frame. Then the link ends the connection with 1009.
    """

    line: Line
    size: int
    """Bytes of the frame, as its header tells; of a message in parts, those of all so far."""

    head: bytes
    """What had come of it, 1 KiB at most."""

    text: bool
    """Whether the transport calls it text."""

    limit: int
    """The most bytes that a frame on this connection may have now."""


class Alive(Struct, frozen=True, gc=False):
    """The transport heard of a peer that said nothing: a ping came, or the answer to one."""

    line: Line


class Congested(Struct, frozen=True, gc=False):
    """A peer reads more slowly than it is sent to, or caught up again."""

    line: Line
    frames: int
    """Frames that wait to leave."""

    bytes: int


class Closed(Struct, frozen=True, gc=False):
    """A connection went away, whoever ended it."""

    line: Line
    code: int


class TimerFired(Struct, frozen=True, gc=False):
    """The time of a `WakeAt` has come."""

    timer: Hashable


class Requested(Struct, frozen=True, gc=False):
    """The application on this side wants something."""

    request: object


class Stopping(Struct, frozen=True, gc=False):
    """The process is about to end in good order."""


Event = (
    Opened
    | FrameReceived
    | FrameRefused
    | Alive
    | Congested
    | Closed
    | TimerFired
    | Requested
    | Stopping
)


class Send(Struct, frozen=True, gc=False):
    """A frame is to leave."""

    line: Line
    raw: bytes
    text: bool = False
    outcome: Outcome | None = None
    """For the capture: what leaving means for the frame, where it means something."""


class Spread(Struct, frozen=True, gc=False):
    """Many frames are to leave, one on each line: as many `Send`s, for less."""

    lines: Sequence[Line]
    """Who gives the same object again, means the same lines: it is not looked through again."""

    raws: Sequence[bytes]
    """As many as there are lines."""

    text: bool = False
    outcome: Outcome | None = None


class Record(Struct, frozen=True, gc=False):
    """A frame was composed for a peer that is not there: it is captured as `local`, not sent."""

    raw: bytes
    peer: str
    """Whom it is for, by the protocol's own name."""


class Admit(Struct, frozen=True, gc=False):
    """The session knows who is there: what holds for strangers on a connection ends."""

    line: Line


class Close(Struct, frozen=True, gc=False):
    """A connection is to end, after what was sent on it has left."""

    line: Line
    code: int
    reason: str = ""


class WakeAt(Struct, frozen=True, gc=False):
    """A timer is to be set, or set anew; `None` takes it back."""

    timer: Hashable
    at_ms: int | None


class Store(Struct, frozen=True, gc=False):
    """A record is to be kept across a crash; one with the same key is replaced."""

    kind: str
    key: str
    value: bytes


class Forget(Struct, frozen=True, gc=False):
    """A record is not needed any more."""

    kind: str
    key: str


class Deliver(Struct, frozen=True, gc=False):
    """Something is for the application on this side."""

    item: object


class Conclude(Struct, frozen=True, gc=False):
    """What became of the frame that this answers."""

    outcome: Outcome
    reason: Reason | None = None
    """Given if, and only if, the outcome is `rejected`."""

    peer: str | None = None
    """Who sent it, by the protocol's own name, once that is known."""

    type: str | None = None
    """Which of the protocol's listed types it has, for the counters; None for any other."""


UNCONCLUDED: Final = Conclude(Outcome.REJECTED, Reason.INTERNAL)
"""For a frame whose session broke the rule that every frame has an outcome."""

Command = Send | Spread | Record | Admit | Close | WakeAt | Store | Forget | Deliver | Conclude


class Session(Protocol):
    """One end of a protocol."""

    def restore(self, records: Iterable[Store], now_ms: int) -> Sequence[Command]:
        """Takes up what an earlier life stored, in that order; called once, before any event."""
        ...

    def handle(self, event: Event, now_ms: int) -> Sequence[Command]:
        """What is to be done about an event."""
        ...
