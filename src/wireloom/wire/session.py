"""The contract of a session: what it is told, what it wants done, and in which order.

A session is one end of a protocol: a hub, a broker, a node, a peer, a client. It is told of one
event at a time and appends commands to the event's `Turn`. It performs none of them, and has no
clock and no source of randomness of its own: the turn tells the time and makes ids, and whatever
else has to be random is an argument of the session's constructor. So one session runs on sockets,
on a simulated network, and in a test that reads like a transcript.

Order of commands:

- They are performed in the order in which they were appended.
- What a `Store` or `Forget` writes is on disk before any later `Send`, `Spread`, `Close` or
  `Deliver` of the same turn is performed. What a session promises on the wire, it can keep after
  a crash.
- The turn of a `FrameReceived` or `FrameRefused` ends with exactly one `Conclude`, its last
  command; no other turn has one. Every frame has one outcome. Handlers of frames return it, and
  the session appends it, so that none can be forgotten.

Events and commands are made and forgotten with every frame. They are structs that the garbage
collector does not track: nothing else is made as fast, and nothing they hold leads back to them.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason

Line = int
"""A connection, by a number that the driver never uses twice."""


class Dial(Struct, frozen=True, gc=False):
    """A connection to a peer is wanted: `Opened` or `DialFailed` answers it.

    While a connection to that address is up or being made, dialling it again changes nothing.
    """

    link: str
    """Which of the endpoint's links is to reach it: `tcp`, `udp`."""

    address: str
    """Where the peer listens, as the link writes addresses: `host:port`."""


class Opened(Struct, frozen=True, gc=False):
    """A connection came up."""

    line: Line
    peer: str
    """Its address, for people."""

    identity: str | None = None
    """Who the transport has proven it to be (the certificate's common name)."""

    token: str | None = None
    """A bearer token that came with the connection."""

    dial: Dial | None = None
    """The command that this connection answers, if the session asked for it."""

    link: str = ""
    """Which of the endpoint's links it came up on."""


class DialFailed(Struct, frozen=True, gc=False):
    """A peer could not be reached."""

    dial: Dial
    reason: str
    """Why, in a few words for people."""


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
    """How it ended, by RFC 6455; 1006 if nobody said."""

    reason: str = ""
    """Why, in the words of who ended it, if it said."""


class TimerFired(Struct, frozen=True, gc=False):
    """The time of a `WakeAt` has come."""

    timer: Hashable


class Requested(Struct, frozen=True, gc=False):
    """The application on this side wants something."""

    request: object


class Computed(Struct, frozen=True, gc=False):
    """What a `Compute` asked for is known."""

    task: Hashable
    result: object


class Stopping(Struct, frozen=True, gc=False):
    """The process is about to end in good order."""


Event = (
    Opened
    | DialFailed
    | FrameReceived
    | FrameRefused
    | Alive
    | Congested
    | Closed
    | TimerFired
    | Requested
    | Computed
    | Stopping
)


class Send(Struct, frozen=True, gc=False):
    """A frame is to leave."""

    line: Line
    raw: bytes
    text: bool = False
    outcome: Outcome | None = None
    """For the capture: what leaving means for the frame, where it means something."""

    whole: bytes | None = None
    """The frame that leaves in parts with this one as the last; empty for the parts before it. The
    capture has this in its place, and nothing if it is empty."""


class Spread(Struct, frozen=True, gc=False):
    """Many frames are to leave, one on each line: as many `Send`s, for less."""

    lines: Sequence[Line]
    """Who gives the same object again, means the same lines: it is not looked through again."""

    raws: Sequence[bytes]
    """As many as there are lines."""

    text: bool = False
    outcome: Outcome | None = None
    whole: bytes | None = None


class Swarm(NamedTuple):
    """A swarm, and what of it is needed to understand its frames, which do not say it."""

    name: str
    epoch_ms: int


class Compose(Struct, frozen=True, gc=False):
    """A frame was composed for a peer that is not there: it is captured as `local`, not sent."""

    raw: bytes
    peer: str
    """Whom it is for, by the protocol's own name."""

    swarm: Swarm | None = None
    """The swarm that it is for, where frames do not say that."""


class Admit(Struct, frozen=True, gc=False):
    """The session knows who is there: what holds for strangers on a connection ends."""

    line: Line


class Close(Struct, frozen=True, gc=False):
    """A connection is to end, after what was sent on it has left."""

    line: Line
    code: int
    reason: str = ""


class Abandon(Struct, frozen=True, gc=False):
    """A peer is no longer wanted: an attempt to reach it ends, and so does a connection to it.

    The session hears `Closed` of a connection, and nothing of an attempt.
    """

    link: str
    address: str


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


Job = Callable[[int], object]
"""A long computation in parts, which are numbered from 0 and take some 25 ms each: gives the result
if a part finds it, else None. It may be sent to another process."""


class Compute(Struct, frozen=True, gc=False):
    """Something that takes long is to be found out: `Computed` tells it.

    The parts of a job are called one after the other until one gives the result.
    """

    task: Hashable
    """What the result will be known by."""

    job: Job


class Cancel(Struct, frozen=True, gc=False):
    """A result is not needed any more; no `Computed` follows."""

    task: Hashable


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

    whole: bytes | None = None
    """What it was read as, if that is not its bytes: put together with earlier parts, unmasked;
    empty for a part that others must complete. The capture has this in its place, and nothing if
    it is empty."""


UNCONCLUDED: Final = Conclude(Outcome.REJECTED, Reason.INTERNAL)
"""For a frame whose session broke the rule that every frame has an outcome."""

Command = (
    Send
    | Spread
    | Compose
    | Admit
    | Close
    | Dial
    | Abandon
    | WakeAt
    | Store
    | Forget
    | Compute
    | Cancel
    | Deliver
    | Conclude
)


class Turn:
    """What one event brings about: handlers get it, read the time, and append commands.

    Whoever runs the session makes one and begins it anew for every event.

    Args:
        ids: The session's own maker of ids.
        now_ms: The time.
    """

    __slots__ = ("commands", "ids", "now_ms")

    def __init__(self, ids: Ids, now_ms: int = 0) -> None:
        self.ids = ids
        self.now_ms = now_ms
        """The time of the event, in ms since 1970."""
        self.commands: list[Command] = []
        """What is to be done, in this order."""

    def begin(self, now_ms: int) -> list[Command]:
        """Begins the turn of the next event; returns the list that its commands go to."""
        self.now_ms = now_ms
        self.commands = []
        return self.commands


class Session(Protocol):
    """One end of a protocol."""

    ids: Ids
    """What makes the ids of its messages; the constructor got it, and every turn has it."""

    slow: Mapping[str, int]
    """How often a peer was cut off because it did not read, by its name in the protocol."""

    def gauges(self) -> Mapping[str, float]:
        """How much of everything there is now, by name."""
        ...

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        """Takes up what an earlier life stored, in that order; called once, before any event."""
        ...

    def handle(self, event: Event, turn: Turn) -> None:
        """Appends what is to be done about an event."""
        ...
