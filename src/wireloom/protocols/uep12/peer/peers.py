"""Who is in a swarm: addresses, what they have proven, and what they may be sent.

Datagrams may come from anybody in the name of any address. So an address gets no more bytes than
came from it until it has proven by a round trip that it hears what is sent to it: it echoes the
ticket of a pull (R19). What is told to all goes to those that have proven themselves.
"""

from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import Final

from wireloom.protocols.uep12.constants import DIALLED_CREDIT, MAX_CREDIT
from wireloom.protocols.uep12.messages import PullByTime
from wireloom.protocols.uep12.packets import split
from wireloom.protocols.uep12.peer.settings import PeerSettings
from wireloom.protocols.uep12.peer.sweep import Sweep
from wireloom.wire.outcome import Outcome
from wireloom.wire.rates import Bucket
from wireloom.wire.seen import Seen
from wireloom.wire.session import Dial, Line, Opened, Send, Spread, Turn
from wireloom.wire.shares import network
from wireloom.wire.states import advance

STRANGERS: Final = "strangers"
"""Whose share is taken by all that have not proven who they are."""

SECOND_MS: Final = 1_000


class State(Enum):
    """What is known of an address."""

    STRANGER = auto()
    """Anybody may speak in its name."""

    PROVEN = auto()
    """It hears what is sent to it."""

    SHUNNED = auto()
    """Rubbish came from it: nothing that it says counts for a while."""

    GONE = auto()


class Step(Enum):
    """What leads an address from one state to another."""

    PROVE = auto()
    """It echoes a ticket."""

    DOUBT = auto()
    """It has echoed none for long."""

    SHUN = auto()
    """Too much rubbish comes from it."""

    FORGIVE = auto()
    """The while is over."""

    LOSE = auto()
    """Its connection ended."""


TRANSITIONS: Final = {
    State.STRANGER: {
        Step.PROVE: State.PROVEN,
        Step.SHUN: State.SHUNNED,
        Step.LOSE: State.GONE,
    },
    State.PROVEN: {
        Step.PROVE: State.PROVEN,
        Step.DOUBT: State.STRANGER,
        Step.SHUN: State.SHUNNED,
        Step.LOSE: State.GONE,
    },
    State.SHUNNED: {Step.FORGIVE: State.STRANGER, Step.LOSE: State.GONE},
    State.GONE: {},
}
"""A pair that is not here is a fault of this peer's own."""


class Peer:
    """One address of a swarm.

    Args:
        event: How its connection came up.
        settings: This peer's own.
    """

    __slots__ = (
        "_network",
        "_rubbish",
        "address",
        "asked",
        "credit",
        "dial",
        "line",
        "question",
        "state",
        "sweep",
    )

    def __init__(self, event: Opened, settings: PeerSettings) -> None:
        self.line: Line = event.line
        self.address = event.peer
        self._network = network(event.peer)
        self.dial: Dial | None = event.dial
        """The command that reached it, if the operator has named it."""
        self.state = State.STRANGER
        self.credit = DIALLED_CREDIT if event.dial else 0
        """Bytes that it may be sent while it is a stranger."""
        self.asked = Bucket(settings.answer_size, SECOND_MS)
        """Bytes that it may ask for."""
        self.question: PullByTime | None = None
        """What it asked before it had proven itself."""
        self.sweep = Sweep()
        self._rubbish = Bucket(settings.rubbish_count, settings.shun_ms)

    @property
    def owner(self) -> str:
        """Whose shares are taken by what it brings."""
        return self._network if self.state is State.PROVEN else STRANGERS

    def advance(self, step: Step) -> None:
        """Takes a step."""
        self.state = advance(TRANSITIONS, self.state, step)

    def earn(self, size: int) -> None:
        """So many bytes came from it."""
        self.credit = min(MAX_CREDIT, self.credit + size)

    def grants(self, size: int) -> bool:
        """Whether it may be sent so many bytes; they count as sent."""
        if self.state is State.PROVEN:
            return True
        if self.credit < size:
            return False
        self.credit -= size
        return True

    def is_too_much(self, now_ms: int) -> bool:
        """Counts a frame that is no proper message; gives whether there were too many."""
        return self._rubbish.take(now_ms) > 0


class Peers:
    """All addresses of a swarm.

    Args:
        settings: This peer's own.
    """

    def __init__(self, settings: PeerSettings) -> None:
        self._settings = settings
        self._lines: dict[Line, Peer] = {}
        self._proven: dict[Line, Peer] = {}
        self._others: dict[Line, tuple[Line, ...]] = {}
        """Whom to tell what came from a peer: all that are proven but itself."""
        self._shunned: Seen[str, int] = Seen(settings.max_peer_count, span_ms=settings.shun_ms)
        self.shunned_count = 0
        """How often a peer was shunned."""

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def proven(self) -> Sequence[Peer]:
        """Those that have proven themselves, in the order in which they did."""
        return tuple(self._proven.values())

    @property
    def everyone(self) -> Sequence[Peer]:
        """All of them."""
        return tuple(self._lines.values())

    def get(self, line: Line) -> Peer | None:
        """The peer at a line."""
        return self._lines.get(line)

    def add(self, event: Opened, now_ms: int) -> Peer:
        """Takes up an address that is spoken with from now on."""
        peer = self._lines[event.line] = Peer(event, self._settings)
        if (self._shunned.get(peer.address, now_ms) or 0) > now_ms:
            peer.advance(Step.SHUN)
        return peer

    def spare(self) -> Peer | None:
        """Whoever has to make way because there are too many: the oldest stranger."""
        if len(self._lines) <= self._settings.max_peer_count:
            return None
        strangers = (one for one in self._lines.values() if one.state is not State.PROVEN)
        return next((one for one in strangers if one.dial is None), None)

    def remove(self, peer: Peer) -> None:
        """Forgets an address."""
        peer.advance(Step.LOSE)
        del self._lines[peer.line]
        self._disprove(peer)

    def prove(self, peer: Peer) -> bool:
        """An address has proven itself; gives whether that is news."""
        peer.advance(Step.PROVE)
        if peer.line in self._proven:
            return False
        self._proven[peer.line] = peer
        self._others.clear()
        return True

    def doubt(self, peer: Peer) -> None:
        """An address has not shown for long that it hears what is sent to it."""
        peer.advance(Step.DOUBT)
        self._disprove(peer)

    def shun(self, peer: Peer, now_ms: int) -> int:
        """Hears nothing of an address for a while; gives until when."""
        peer.advance(Step.SHUN)
        until_ms = now_ms + self._settings.shun_ms
        self._shunned.get(peer.address, now_ms)  # begins a generation if the last one is old
        self._shunned.put(peer.address, until_ms)
        self.shunned_count += 1
        self._disprove(peer)
        return until_ms

    def after(self, line: Line) -> Peer | None:
        """Whom to ask when the peer at a line did not answer: the next one, if there is any."""
        if not self._proven:
            return None
        following = min((one for one in self._proven if one > line), default=min(self._proven))
        return self._proven[following]

    def others(self, line: Line) -> tuple[Line, ...]:
        """The lines of all that are proven, but for one; the same object while nobody changes."""
        found = self._others.get(line)
        if found is None:
            found = self._others[line] = tuple(one for one in self._proven if one != line)
        return found

    def _disprove(self, peer: Peer) -> None:
        if self._proven.pop(peer.line, None) is not None:
            self._others.clear()


def tell(turn: Turn, peer: Peer, raw: bytes) -> bool:
    """Sends a message to a peer, if it may get so many bytes; gives whether it may."""
    packets = split(raw)
    if not peer.grants(sum(map(len, packets))):
        return False
    turn.commands += [Send(peer.line, one, whole=whole) for one, whole in _parts(packets, raw)]
    return True


def relay(turn: Turn, lines: Sequence[Line], raw: bytes) -> None:
    """Sends a message to all these lines."""
    if lines:
        for one, whole in _parts(split(raw), raw):
            packets = (one,) * len(lines)
            turn.commands.append(Spread(lines, packets, outcome=Outcome.FORWARDED, whole=whole))


def _parts(packets: Sequence[bytes], raw: bytes) -> Iterator[tuple[bytes, bytes | None]]:
    """Each packet that carries a message, and what the capture has in its place, if not itself."""
    if len(packets) == 1:
        yield raw, None
        return
    for packet in packets[:-1]:
        yield packet, b""
    yield packets[-1], raw
