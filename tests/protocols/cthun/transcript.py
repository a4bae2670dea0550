"""A broker and its clients in a test that reads like a transcript.

`Stage` does what a driver does, without sockets: it keeps timers and records, hands frames
over, and holds the session to its contract at every step.

    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    letter = stage.letter(alice, to=[bob])
    alice.sends(letter)
    stage.concludes("forwarded")
    bob.gets_letter(letter, "accepted", "deliver")
    stage.is_quiet()
"""

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any

from msgspec.structs import replace

from protocols.cthun.samples import APPLICATION
from support.commands import commands_after, commands_at_start, singly
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
from wireloom.wire.session import (
    Close,
    Closed,
    Command,
    Compose,
    Conclude,
    Event,
    Forget,
    FrameReceived,
    FrameRefused,
    Opened,
    Send,
    Store,
    TimerFired,
    WakeAt,
)

START_MS = 1_430_136_000_000
SERVER = "cth://broker-1.example.com/server"
TRUSTING = BrokerSettings(uri=SERVER, trust_sender=True)


def uri_of(name: str) -> str:
    return name if "/" in name else f"cth://{name}.example.com/agent"


class Line:
    """One connection, seen from its client."""

    def __init__(self, stage: "Stage", number: int, uri: str) -> None:
        self.stage = stage
        self.number = number
        self.uri = uri
        self.inbox: deque[tuple[Packet, bytes]] = deque()
        self.closed: tuple[int, str] | None = None

    def __str__(self) -> str:
        return self.uri

    def sends(self, message: Packet | bytes, *, text: bool = False) -> "Line":
        raw = encode(message) if isinstance(message, Packet) else message
        self.stage.handle(FrameReceived(self.number, raw, text))
        return self

    def associates(self, **changes: Any) -> "Line":
        """Sends an associate_request."""
        request = self.stage.envelope(self.uri, [BROKER_URI], MessageType.ASSOCIATE_REQUEST)
        request = replace(request, **changes)
        self.stage.request_id = request.id
        return self.sends(Packet(envelope=request))

    def leaves(self, code: int = 1000) -> None:
        self.closed = (code, "")
        self.stage.lines.pop(self.number)
        self.stage.handle(Closed(self.number, code))

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


class Stage:
    """A broker, its clock, its disk and its connections."""

    def __init__(self, settings: BrokerSettings = TRUSTING) -> None:
        self.settings = settings
        self.now_ms = START_MS
        self.lines: dict[int, Line] = {}
        self.timers: dict[Hashable, int] = {}
        self.records: dict[tuple[str, str], bytes] = {}
        self.conclusions: deque[Conclude] = deque()
        self.commands: Sequence[Command] = ()
        self.recorded: deque[tuple[str, Packet]] = deque()
        self.request_id = ""
        self._count = 0
        self._boots = 0
        self.boots()

    def boots(self) -> None:
        """A new life of the process, with the records of the last one."""
        for line in list(self.lines.values()):
            line.closed = (1006, "")
        self.lines.clear()
        self.timers.clear()
        self._boots += 1
        self.session = BrokerSession(self.settings, Ids(f"boot {self._boots}"))
        self.restores()

    def restores(self) -> None:
        """The session takes up what was stored."""
        records = [Store(*key, value) for key, value in self.records.items()]
        self._perform(commands_at_start(self.session, records, self.now_ms))

    def opens(self, name: str, *, identity: str | None = None, peer: str = "") -> Line:
        self._count += 1
        line = self.lines[self._count] = Line(self, self._count, uri_of(name))
        peer = peer or f"127.0.0.1:{40_000 + line.number}"
        self.handle(Opened(line.number, peer, identity))
        return line

    def join(self, name: str, *, identity: str | None = None, peer: str = "") -> Line:
        """A client that is connected and associated."""
        line = self.opens(name, identity=identity, peer=peer).associates()
        assert self.conclusions.pop().outcome is Outcome.ACCEPTED
        line.hears(AssociateResponse(id=self.request_id, success=True))
        return line

    def passes(self, ms: int) -> None:
        """Lets time pass; timers fire when they are due."""
        until = self.now_ms + ms
        while due := sorted((at, str(timer), timer) for timer, at in self.timers.items())[:1]:
            at, _, timer = due[0]
            if at > until:
                break
            self.now_ms = max(self.now_ms, at)
            del self.timers[timer]
            self.handle(TimerFired(timer))
        self.now_ms = until

    def envelope(self, sender: str, to: Sequence[object], type_: str, **more: Any) -> Envelope:
        self._count += 1
        ttl_ms = more.pop("ttl_ms", 5_000)
        return Envelope(
            id=f"00000000-0000-4000-8000-{self._count:012x}",
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

    def handle(self, event: Event) -> None:
        """Tells the session; holds it to its contract; does what it wants."""
        commands = singly(commands_after(self.session, event, self.now_ms))
        self.checks(event, commands)
        self._perform(commands)

    def checks(self, event: Event | None, commands: Sequence[Command]) -> None:
        """Holds the session to its contract, and notes what became of the frame."""
        conclusions = [command for command in commands if isinstance(command, Conclude)]
        assert len(conclusions) == isinstance(event, FrameReceived | FrameRefused)
        for conclusion in conclusions:
            assert (conclusion.reason is not None) == (conclusion.outcome is Outcome.REJECTED)
        assert not conclusions or commands[-1] is conclusions[0]
        self.conclusions += conclusions

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
        assert not [line.uri for line in self.lines.values() if line.inbox]
        assert not self.conclusions

    def _perform(self, commands: Sequence[Command]) -> None:
        self.commands = commands
        for command in commands:
            match command:
                case Send(number, raw, text, _):
                    assert self.lines[number].is_open, "what was closed is sent to"
                    assert text is False
                    self.lines[number].inbox.append((decode(raw), raw))
                case Close(number, code, reason):
                    assert self.lines[number].is_open, "what was closed is closed"
                    self.lines[number].closed = (code, reason)
                case WakeAt(timer, None):
                    self.timers.pop(timer, None)
                case WakeAt(timer, int(at_ms)):
                    self.timers[timer] = at_ms
                case Store(kind, key, value):
                    self.records[kind, key] = value
                case Compose(raw, peer):
                    self.recorded.append((peer, decode(raw)))
                case Forget(kind, key):
                    del self.records[kind, key]
