"""One connection, in the shape that all links share.

A link makes connections and tells the driver of them. The driver gives frames to `put`
while it works through what happened in one turn of the loop, and then calls `flush` once:
all that a connection is owed leaves in one write.
"""

from abc import ABC, abstractmethod
from collections import deque
from typing import Final, NamedTuple, Protocol

import msgspec

from wireloom.wire.session import Close, Dial, FrameReceived, FrameRefused, Line, Send, Swarm

ABNORMAL: Final = 1006
"""The code of a connection that ended without one."""

NO_CODE: Final = 1005
"""The code of a connection that the peer closed without one."""


class LinkLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a link grants its connections."""

    max_connections: int = 20_000
    """Further ones are refused; those that have not asked for anything yet count too."""

    max_strangers: int = 1_024
    """Connections of which the session does not know yet who is there; one address may have half of
    them, and less when others need the rest."""

    stranger_rate: float = 20.0
    """Connections a second that may come to nothing from one address, ten times as many at once."""

    max_frame_size: int = 2 * 1024 * 1024
    """A larger frame is refused before it is read, and ends the connection."""

    stranger_frame_size: int = 64 * 1024
    """The same, until the session knows who is there."""

    stranger_frames: int = 8
    """So many frames may come before the session knows who is there."""

    large_bytes_per_second: float = 64 * 1024 * 1024
    """Bytes in large frames that are read from one address; more of them wait at the sender."""

    max_buffer_bytes: int = 512 * 1024 * 1024
    """What all connections may keep to read large frames into; beyond it, the worst are cut."""

    control_burst: int = 50
    control_rate: float = 10.0
    """Pings, pongs and empty parts of messages: so many at once, so many a second."""

    handshake_seconds: float = 5.0
    """Until then a connection has said what it wants."""

    ping_seconds: float = 20.0
    """A connection that is silent for this long is asked for a sign of life; one that is silent
    for as long again is cut. A frame has to arrive whole within that time."""

    dial_seconds: float = 5.0
    """A peer that this side reaches out to has this long to answer."""

    max_dials: int = 256
    """Peers that this side reaches out to at once; further attempts fail."""

    close_seconds: float = 5.0
    """A connection that is being closed has this long to let everything out."""

    high_bytes: int = 128 * 1024
    """When this much waits to leave, the session hears of it."""

    low_bytes: int = 32 * 1024
    """When no more than this waits, it hears that too."""

    max_backlog_bytes: int = 32 * 1024 * 1024
    """A connection on which more waits is cut, if the session did not do so before."""


class Backlog(NamedTuple):
    """What waits to leave on a connection."""

    frames: int
    bytes: int


class Host(Protocol):
    """What a link tells of its connections: the driver."""

    def turned_away(self, who: str, why: str) -> None:
        """Somebody was not let in; `why` is one of a few words."""
        ...

    def opened(self, connection: "Connection") -> None:
        """A connection came up."""
        ...

    def received(self, event: FrameReceived) -> None:
        """A whole frame came in; it may be handled later."""
        ...

    def refused(self, event: FrameRefused) -> None:
        """A frame above the limit began to come in; the link closes after this."""
        ...

    def catch_up(self) -> None:
        """All that came in is to be handled before something else happens."""
        ...

    def alive(self, connection: "Connection") -> None:
        """The peer gave a sign of life that is no frame."""
        ...

    def congested(self, connection: "Connection") -> None:
        """More waits to leave than should, or little enough again."""
        ...

    def waits(self, connection: "Connection", size: int) -> None:
        """The system did not take a write whole: so many bytes wait now."""
        ...

    def stalled(self, connection: "Connection") -> None:
        """More waits to leave than may: the connection is to be cut."""
        ...

    def ending(self, connection: "Connection", code: int) -> None:
        """Nothing leaves on a connection any more; told once or more, before `closed`."""
        ...

    def closed(self, connection: "Connection", code: int) -> None:
        """A connection went away; nothing more will be told of it."""
        ...


class Connection(ABC):
    """One connection of a link.

    Args:
        host: Who is told what happens on it.
        link: The link's name in the capture log.
        peer: The other end's address.
        limits: What the connection is granted.
    """

    __slots__ = (
        "_out",
        "_waiting",
        "_waiting_bytes",
        "_waiting_frames",
        "dial",
        "held",
        "host",
        "identity",
        "is_admitted",
        "is_cut",
        "limits",
        "line",
        "link",
        "max_frame_size",
        "name",
        "peer",
        "protocol",
        "swarm",
        "token",
        "turn",
    )

    def __init__(self, host: Host, link: str, peer: str, limits: LinkLimits) -> None:
        self.host = host
        self.limits = limits
        self.link = link
        self.peer = peer
        self.protocol = ""
        """What is spoken on it: the driver says so."""

        self.name = peer
        """Who is there: the address until the session knows better."""

        self.swarm: Swarm | None = None
        self.identity: str | None = None
        self.token: str | None = None
        self.dial: Dial | None = None
        """What it answers, if the session asked for it; the link says so before it tells of it."""

        self.line: Line = 0
        self.is_admitted = False
        """Whether the session knows who is there."""

        self.max_frame_size = min(limits.stranger_frame_size, limits.max_frame_size)
        """The most bytes that a frame may have now."""

        self.is_cut = False
        self.held: deque[tuple[int, Send | Close]] = deque()
        """What waits for the store before it may be put, and what may not overtake that."""

        self.turn: list[Connection] = []
        """Where to enter when something was put: the driver's list of whom to flush."""

        self._out: list[bytes] = []
        self._waiting: deque[tuple[int, int]] = deque()
        self._waiting_bytes = 0
        self._waiting_frames = 0

    @abstractmethod
    def put(self, raw: bytes, text: bool) -> None:  # noqa: FBT001 - most calls of all: no keyword
        """Takes a frame that leaves with the next `flush`, as text or not."""

    @abstractmethod
    def flush(self) -> None:
        """Writes all that was put."""

    @abstractmethod
    def close(self, code: int, reason: str) -> None:
        """Ends the connection in good order, after what was put has left."""

    @abstractmethod
    def abort(self) -> None:
        """Ends the connection at once."""

    @abstractmethod
    def pause(self) -> None:
        """Stops reading."""

    @abstractmethod
    def resume(self) -> None:
        """Reads on."""

    @abstractmethod
    def buffered(self) -> int:
        """Bytes that were written and that the system has not taken yet."""

    def admit(self) -> None:
        """The session knows who is there: what holds for strangers ends."""
        self.is_admitted = True
        self.max_frame_size = self.limits.max_frame_size

    def backlog(self) -> Backlog:
        """What was written and waits because the peer does not read."""
        size = self.buffered()
        self._settle(size)
        return Backlog(self._waiting_frames, size)

    def _wrote(self, size: int, frames: int) -> None:
        """Notes a write that the system did not take whole; frames are counted only then."""
        self._waiting.append((size, frames))
        self._waiting_bytes += size
        self._waiting_frames += frames
        buffered = self.buffered()
        self._settle(buffered)
        if buffered > self.limits.max_backlog_bytes:
            self.host.stalled(self)
        else:
            self.host.waits(self, buffered)

    def _settle(self, buffered: int) -> None:
        """Forgets writes that have left: the newest `buffered` bytes are still here."""
        while self._waiting and self._waiting_bytes - self._waiting[0][0] >= buffered:
            size, frames = self._waiting.popleft()
            self._waiting_bytes -= size
            self._waiting_frames -= frames


def address_of(text: str) -> tuple[str, int]:
    """An address as people write it: `host:port`, `[host]:port` for IPv6.

    Raises:
        ValueError: If it is none.
    """
    host, _, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(f"{text!r:.80} needs brackets around its host")
    if not (host and port.isascii() and port.isdigit() and 0 < int(port[:6]) < 1 << 16):
        raise ValueError(f"{text!r:.80} is no host and port")
    return host, int(port[:6])


def shown(address: tuple[object, ...] | None) -> str:
    """An address as people write it."""
    if not address:
        return "unknown"
    host, port = str(address[0]), address[1]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
