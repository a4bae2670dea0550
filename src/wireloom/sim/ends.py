"""The two ends of a connection without a socket."""

from collections import deque
from typing import Protocol

from wireloom.sim.network import Network, Path
from wireloom.wire.session import Close, Dial, Line, Send, Swarm

ABNORMAL = 1006
"""The code of a connection that ended without one."""


class FarEnd(Protocol):
    """What is at the other end: another machine's end, or a visitor."""

    def receive(self, raw: bytes, text: bool, sent_ns: int, /) -> None:  # noqa: FBT001
        """A frame arrives that was sent at a time."""
        ...

    def ended(self, code: int, reason: str, /) -> None:
        """The connection has ended."""
        ...


class Holder(Protocol):
    """Whose end it is: a machine."""

    def flush_later(self, end: "End", /) -> None:
        """Something was put to an end."""
        ...

    def closes(self, end: "End", code: int, reason: str, /) -> None:
        """Its session closes a connection; what was put before leaves first."""
        ...

    def received(self, end: "End", raw: bytes, text: bool, /) -> None:  # noqa: FBT001
        """A frame came in."""
        ...

    def missed(self, end: "End", raw: bytes, /) -> None:
        """A frame came for an end that is gone."""
        ...

    def lost(self, end: "End", code: int, reason: str, /) -> None:
        """The other end is gone."""
        ...


class End:
    """A machine's end of a connection.

    Args:
        holder: Whose end it is.
        link: The link's name.
        peer: The other end's address.
    """

    def __init__(self, holder: Holder, link: str, peer: str) -> None:
        self.holder = holder
        self.link = link
        self.peer = self.name = peer
        self.protocol = ""
        self.swarm: Swarm | None = None
        self.line: Line = 0
        self.identity: str | None = None
        self.token: str | None = None
        self.dial: Dial | None = None
        self.is_admitted = False
        self.held: deque[tuple[int, Send | Close]] = deque()
        self.far: FarEnd | None = None
        """What is at the other end; None once the connection has ended on this side."""

        self.path: Path | None = None
        """The way to the other end; None if that is a visitor's."""

        self.sent_ns = 0
        """When the last frame that came in was sent."""

        self.out: list[tuple[bytes, bool]] = []
        """Frames that leave when the machine lets them out."""

    def put(self, raw: bytes, text: bool) -> None:  # noqa: FBT001
        """Takes a frame that leaves when frames are let out."""
        if not self.out:
            self.holder.flush_later(self)
        self.out.append((raw, text))

    def close(self, code: int, reason: str) -> None:
        """Ends the connection, after what was put has left."""
        self.holder.closes(self, code, reason)

    def admit(self) -> None:
        """The session knows who is there."""
        self.is_admitted = True

    def flush(self, network: Network, now_ns: int) -> None:
        """Sends all that was put."""
        out, self.out = self.out, []
        far = self.far
        if far is None:
            return
        for raw, text in out:
            network.stream(self.path, raw, far.receive, raw, text, now_ns)

    def part(self, network: Network, code: int, reason: str) -> None:
        """Ends the connection on this side; the other one hears of it."""
        far, self.far = self.far, None
        if far is not None:
            network.stream(self.path, None, far.ended, code, reason)

    def break_off(self) -> None:
        """The connection breaks: both ends hear of it, and what is under way on it is lost."""
        far = self.far
        self.ended(ABNORMAL, "")
        if far is not None:
            far.ended(ABNORMAL, "")

    def receive(self, raw: bytes, text: bool, sent_ns: int) -> None:  # noqa: FBT001
        """A frame arrives, unless this side has ended the connection."""
        if self.far is None:
            self.holder.missed(self, raw)
            return
        self.sent_ns = sent_ns
        self.holder.received(self, raw, text)

    def ended(self, code: int, reason: str) -> None:
        """The other side has ended the connection."""
        if self.far is not None:
            self.far = None
            self.holder.lost(self, code, reason)


class Visitor:
    """The far end of a connection that a test or a scenario holds itself.

    Args:
        end: The machine's end.
    """

    def __init__(self, end: End) -> None:
        self._end = end
        self.inbox: deque[tuple[bytes, bool]] = deque()
        """Frames that came and were not taken yet, and whether each is text."""

        self.end: tuple[int, str] | None = None
        """With which code and reason the machine has ended the connection."""

    @property
    def line(self) -> Line:
        """The connection, as the machine's session knows it."""
        return self._end.line

    @property
    def is_up(self) -> bool:
        """Whether the connection is up."""
        return self._end.far is not None

    def send(self, raw: bytes, *, text: bool = False) -> None:
        """Sends a frame."""
        self._end.receive(raw, text, 0)

    def leave(self, code: int = ABNORMAL) -> None:
        """Ends the connection."""
        self._end.ended(code, "")

    def receive(self, raw: bytes, text: bool, sent_ns: int) -> None:  # noqa: FBT001
        """A frame arrives."""
        del sent_ns
        self.inbox.append((raw, text))

    def ended(self, code: int, reason: str) -> None:
        """The machine has ended the connection."""
        self.end = (code, reason)
