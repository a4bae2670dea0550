"""A broker and its clients in a test that reads like a transcript.

`Stage` is a harness: it lets time pass, hands frames over, and holds the session to its contract
at every step.

    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    letter = stage.letter(alice, to=[bob])
    alice.sends(letter)
    stage.concludes("forwarded")
    bob.gets_letter(letter, "accepted", "deliver")
    stage.is_quiet()
"""

import itertools
from collections import deque
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from protocols.cthun.samples import APPLICATION
from support.harness import Harness, Place, Remote, Simulated
from wireloom.protocols.cthun.broker.session import BrokerSession
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.codec import decode, encode
from wireloom.protocols.cthun.constants import BROKER_URI, MessageType
from wireloom.protocols.cthun.messages import (
    AssociateResponse,
    BrokerData,
    Envelope,
    ErrorMessage,
    Packet,
    TtlExpired,
)
from wireloom.protocols.cthun.times import millis, text_of
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Closed, Command, Compose, Conclude, FrameReceived, Send

START_MS = 1_430_136_000_000
SERVER = "cth://broker-1.example.com/server"
TRUSTING = BrokerSettings(uri=SERVER, trust_sender=True)


def uri_of(name: str) -> str:
    return name if "/" in name else f"cth://{name}.example.com/agent"


class Client(Remote):
    """One connection, seen from its client."""

    def __init__(self, stage: "Stage", uri: str) -> None:
        self.stage = stage
        self.uri = uri
        self.inbox: deque[tuple[Packet, bytes]] = deque()

    def __str__(self) -> str:
        return self.uri

    def takes(self, frame: Send) -> None:
        assert frame.text is False
        self.inbox.append((decode(frame.raw), frame.raw))

    def sends(self, message: Packet | bytes, *, text: bool = False) -> "Client":
        raw = encode(message) if isinstance(message, Packet) else message
        self.stage.happens(FrameReceived(self.line, raw, text))
        return self

    def associates(self, **changes: Any) -> "Client":
        """Sends an associate_request."""
        request = self.stage.envelope(self.uri, [BROKER_URI], MessageType.ASSOCIATE_REQUEST)
        request = replace(request, **changes)
        self.stage.request_id = request.id
        return self.sends(Packet(envelope=request))

    def leaves(self, code: int = 1000) -> None:
        self.closed = (code, "")
        self.stage.happens(Closed(self.line, code))

    def hears(self, data: BrokerData) -> Packet:
        """The next message that it got is the broker's and says exactly this."""
        assert self.inbox, f"{self.uri} got nothing"
        packet, _ = self.inbox.popleft()
        assert packet.data == data
        assert packet.envelope.sender == BROKER_URI
        assert millis(packet.envelope.expires) == self.stage.now_ms + 3_000
        assert packet.debug_chunks == ()
        return packet

    def hears_error(self, description: str, *, about: Packet | None = None) -> Packet:
        error = ErrorMessage(description=description)
        if about is not None:
            error = ErrorMessage(id=about.envelope.id, description=description)
        return self.hears(error)

    def hears_of_expiry(self, letter: Packet) -> Packet:
        return self.hears(TtlExpired(id=letter.envelope.id))

    def gets_letter(self, letter: Packet, *stages: str) -> bytes:
        """The next message that it got is `letter`, every byte of it, with the broker's notes."""
        assert self.inbox, f"{self.uri} got nothing"
        packet, raw = self.inbox.popleft()
        assert raw.startswith(encode(letter))
        assert (packet.envelope, packet.data) == (letter.envelope, letter.data)
        mine = packet.hops[len(letter.hops) :]
        assert tuple(hop.stage for hop in mine) == stages
        assert all(hop.server == SERVER for hop in mine)
        return raw

    def is_cut(self, code: int, reason: str) -> None:
        assert self.closed == (code, reason)

    @property
    def is_open(self) -> bool:
        return self.closed is None


class Stage(Harness[Client]):
    """A broker and its clients.

    Args:
        settings: The broker's.
        place: Where it runs; without sockets if it is not given.
    """

    session: BrokerSession

    def __init__(self, settings: BrokerSettings = TRUSTING, *, place: Place | None = None) -> None:
        self.settings = settings
        self.recorded: deque[tuple[str, Packet]] = deque()
        self.request_id = ""
        self._ports = itertools.count(40_001)
        self._ids = itertools.count(1)
        super().__init__(self._made, place or Simulated(START_MS))

    def _made(self, life: int) -> BrokerSession:
        return BrokerSession(self.settings, Ids(f"boot {life}"))

    def opens(self, name: str, *, identity: str | None = None, peer: str = "") -> Client:
        """A client that is connected and has said nothing."""
        peer = peer or f"127.0.0.1:{next(self._ports)}"
        return self.connects(Client(self, uri_of(name)), peer, identity=identity)

    def join(self, name: str, *, identity: str | None = None, peer: str = "") -> Client:
        """A client that is connected and associated."""
        line = self.opens(name, identity=identity, peer=peer).associates()
        assert self.conclusions.pop().outcome is Outcome.ACCEPTED
        line.hears(AssociateResponse(id=self.request_id, success=True))
        return line

    def envelope(self, sender: str, to: Sequence[object], type_: str, **more: Any) -> Envelope:
        ttl_ms = more.pop("ttl_ms", 5_000)
        return Envelope(
            id=f"00000000-0000-4000-8000-{next(self._ids):012x}",
            message_type=str(type_),
            expires=text_of(self.now_ms + ttl_ms),
            targets=tuple(str(target) for target in to),
            sender=sender,
            **more,
        )

    def letter(self, sender: object, to: Sequence[object], **more: Any) -> Packet:
        """An application's message."""
        data = more.pop("data", b"hello")
        debug_chunks = more.pop("debug_chunks", ())
        type_ = more.pop("type_", APPLICATION)
        envelope = self.envelope(str(sender), to, type_, **more)
        return Packet(envelope=envelope, data=data, debug_chunks=debug_chunks)

    def request(self, sender: object, type_: str, data: BrokerData, **more: Any) -> Packet:
        """One of the broker's messages, as a client sends it."""
        to = more.pop("to", [BROKER_URI])
        return Packet(envelope=self.envelope(str(sender), to, type_, **more), data=data)

    def concludes(
        self, outcome: str, reason: str | None = None, *, peer: object = None
    ) -> Conclude:
        """What became of the oldest frame not yet spoken of."""
        concluded = self.conclusions.popleft()
        assert concluded.outcome is Outcome(outcome)
        assert concluded.reason is (None if reason is None else Reason(reason))
        if peer is not None:
            assert concluded.peer == str(peer)
        return concluded

    def is_quiet(self) -> None:
        """Nobody got anything that was not spoken of."""
        assert not [line.uri for line in self.clients.values() if line.inbox]
        assert not self.conclusions

    def notes(self, command: Command) -> None:
        super().notes(command)
        if isinstance(command, Compose):
            self.recorded.append((command.peer, decode(command.raw)))
