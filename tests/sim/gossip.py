"""A toy protocol on datagrams: everybody tells everybody what they have, now and then."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from wireloom.sim.parts import Part
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Closed,
    Conclude,
    Deliver,
    Dial,
    Event,
    FrameReceived,
    Opened,
    Requested,
    Send,
    Session,
    Store,
    TimerFired,
    Turn,
    WakeAt,
)

ROUND_MS = 2_000
SIZE = 36
HELLO = b"here"
"""Who has nothing to say wants to hear something all the same."""


class GossipSession:
    """Keeps lines of 36 letters; stores each before it passes it on.

    Args:
        peers: Where the others are.
        ids: Makes ids.
    """

    def __init__(self, peers: Iterable[str], ids: Ids) -> None:
        self.ids = ids
        self.slow: Mapping[str, int] = {}
        self.peers = list(peers)
        self.lines: dict[int, None] = {}
        self.known: dict[bytes, None] = {}

    def gauges(self) -> Mapping[str, float]:
        return {"lines": len(self.lines)}

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        self.known = {record.value: None for record in records}
        turn.commands.append(WakeAt("round", turn.now_ms + 1))

    def handle(self, event: Event, turn: Turn) -> None:
        match event:
            case Opened(line=line):
                self.lines[line] = None
            case Closed(line=line):
                self.lines.pop(line, None)
            case TimerFired():
                turn.commands += [Dial("udp", peer) for peer in self.peers]
                for line in self.lines:
                    turn.commands += [Send(line, said) for said in (HELLO, *self.known)]
                turn.commands.append(WakeAt("round", turn.now_ms + ROUND_MS))
            case Requested(request=bytes() as said):
                self.take(said, turn)
            case FrameReceived(raw=raw):
                is_sound = raw == HELLO or (len(raw) == SIZE and raw.isascii() and raw[:1] == b"~")
                if not is_sound:
                    turn.commands.append(Conclude(Outcome.REJECTED, Reason.MALFORMED))
                elif raw == HELLO or raw in self.known:
                    turn.commands.append(Conclude(Outcome.DUPLICATE))
                else:
                    self.take(raw, turn)
                    turn.commands.append(Conclude(Outcome.ACCEPTED))

    def take(self, said: bytes, turn: Turn) -> None:
        self.known[said] = None
        turn.commands += [Store("said", said.decode(), said), Deliver(said)]


class Gossip(Part):
    """One who gossips."""

    ROLE = "gossip"
    PROTOCOL = "uep12"
    ACTS = ("say",)

    _joined_ns: int | None = None

    @classmethod
    def check(cls, name: str, limits: Mapping[str, Any], error: Callable[[str], Exception]) -> None:
        pass

    def settle_in(self) -> None:
        self.stage.world.bind(self.machine, "udp", f"{self.name}:1")

    def session(self) -> Session:
        others = [one for one in self.stage.of_role("gossip") if one.machine.number < 3]
        return GossipSession([f"{one.name}:1" for one in others if one is not self], Ids(self.boot))

    def wake(self) -> None:
        self._joined_ns = self.stage.world.now_ns

    def do_say(self) -> None:
        self.asks(b"~%d %d" % (self.machine.number, self.stage.world.now_ms) + b"." * SIZE)

    def asks(self, request: object) -> None:
        assert isinstance(request, bytes)
        super().asks(request[:SIZE])

    # What `agreed` compares.

    def flow(self) -> str:
        return "gossip"

    def held(self, now_ns: int) -> frozenset[bytes]:
        return frozenset(key[1].encode() for key in self.machine.records.kept)

    @property
    def joined_ns(self) -> int | None:
        return self._joined_ns
