"""A Cthun broker with controllers and agents; only the broker captures.

Every message passes the broker: `in` from its sender, `out` to each receiver, with a note of
every stage appended. The broker answers with reports, expiries and errors.
"""

from collections import deque
from collections.abc import Sequence
from itertools import cycle
from typing import Any, Final, NamedTuple

from wireloom.capture.frame import Direction
from wireloom.generate.scene import VICTIMS, Conversations, Kind, Scene
from wireloom.generate.timeline import END_MS, SECOND_US
from wireloom.generate.truth import Row
from wireloom.protocols.cthun.chunks import put_chunk
from wireloom.protocols.cthun.codec import encode, put_debug
from wireloom.protocols.cthun.constants import (
    BROKER_TTL_MS,
    BROKER_URI,
    DEFAULT_TTL_MS,
    MessageType,
    Stage,
)
from wireloom.protocols.cthun.integrity import expires_ms
from wireloom.protocols.cthun.messages import (
    BROKER_TYPES,
    AssociateResponse,
    BrokerData,
    DebugChunk,
    DestinationReport,
    Envelope,
    ErrorMessage,
    Hop,
    InventoryRequest,
    InventoryResponse,
    Packet,
    TtlExpired,
)
from wireloom.protocols.cthun.times import text_of
from wireloom.wire.cursor import Writer
from wireloom.wire.outcome import Fate, Outcome, Reason

BROKER: Final = "broker-1"
SERVER: Final = "cth://broker-1.example.com/server"
LINK: Final = "ws"
CONTROLLERS: Final = tuple(f"cth://ctl-{n}.example.com/controller" for n in range(1, 5))
AGENTS: Final = tuple(f"cth://agent-{n:02d}.example.com/agent" for n in range(1, 17))
ALL_AGENTS: Final = "cth://*/agent"
TYPES: Final = ("http://example.com/run", "http://example.com/status", "http://example.com/facts")
ANSWER: Final = "http://example.com/answer"
ERRORS: Final = (
    ("Message not authenticated", Reason.UNAUTHENTICATED),
    ("Message not authorized", Reason.UNAUTHORIZED),
    ("Could not read the data of the message", Reason.MALFORMED),
)
"""What the broker says of messages that it does not take."""


class Letter(NamedTuple):
    """A message as its sender sends it."""

    envelope: Envelope
    raw: bytes
    expires_ms: int


class BrokerConversations(Conversations):
    """All that passes the broker."""

    protocol = "cthun"

    def __init__(self, scene: Scene) -> None:
        self._victims: deque[Envelope] = deque(maxlen=VICTIMS)
        self._errors = cycle(ERRORS)
        super().__init__(scene)

    def kinds(self) -> Sequence[Kind]:
        """Every kind of conversation."""
        return (
            (12, self.asked),
            (5, self.asked_all),
            (1, self.asked_all_in_vain),
            (2, self.told_all),
            (2, self.expired),
            (1, self.expired_unheard),
            (1, self.expired_on_arrival),
            (2, self.partly_expired),
            (2, self.lost),
            (1, self.waiting),
            (2, self.refused),
            *[(0, self.refused)] * (len(ERRORS) - 1),
            (3, self.associated),
            (1, self.association_refused),
            (3, self.inventory),
            (1, self.undecodable),
        )

    def opening(self, at: int) -> None:
        """The controllers, and some agents, make themselves known."""
        for number, client in enumerate((*CONTROLLERS, *AGENTS[:4])):
            self._associate(client, at + number * 50_000, success=True)

    def forge(self, at: int) -> None:
        """A client speaks for the broker about a message that is under way."""
        if not self._victims:
            return
        victim = self.rng.choice(self._victims)
        data: TtlExpired | ErrorMessage = TtlExpired(id=victim.id)
        if self.rng.random() < 0.5:
            data = ErrorMessage(id=victim.id, description="Message not authorized")
        said = self._envelope(at, BROKER_URI, (victim.sender,), _NAMES[type(data)])
        raw = encode(Packet(envelope=said, data=data))
        verdict = {"outcome": Outcome.REJECTED, "reason": Reason.UNAUTHENTICATED}
        if self._in(self.scene.after(at, 1, SECOND_US), self.rng.choice(AGENTS), raw, **verdict):
            self.scene.truth.forged()

    def asked(self, at: int) -> None:
        """A controller asks some agents, which answer."""
        sender = self.rng.choice(CONTROLLERS)
        targets = tuple(self.rng.sample(AGENTS, self.rng.randint(1, 3)))
        letter = self._letter(at, sender, targets)
        queued = self._accept(at, letter)
        for target in targets:
            done = self._deliver(self._open(letter, target, at), queued, at)
            self._answer(letter, target, self.scene.after(done, 5_000, SECOND_US))

    def asked_all(self, at: int) -> None:
        """A controller asks all agents; the broker reports who they are."""
        sender = self.rng.choice(CONTROLLERS)
        found = tuple(sorted(self.rng.sample(AGENTS, self.rng.randint(3, 6))))
        letter = self._letter(at, sender, (ALL_AGENTS,), destination_report=True)
        queued = self._accept(at, letter)
        self._tell(at, letter.envelope, DestinationReport(id=letter.envelope.id, targets=found))
        rows = [self._open(letter, target, at) for target in found]
        for row in rows[:-1]:
            self._deliver(row, queued, at)
        if self.rng.random() < 0.7:
            self._deliver(rows[-1], queued, at)
        elif self.rng.random() < 0.5:
            self._expire(letter, rows)

    def asked_all_in_vain(self, at: int) -> None:
        """A controller asks all agents, and nothing more is seen of it."""
        sender = self.rng.choice(CONTROLLERS)
        letter = self._letter(at, sender, (ALL_AGENTS,))
        self._accept(at, letter)
        self._open(letter, ALL_AGENTS, at)

    def told_all(self, at: int) -> None:
        """A controller tells all agents something; only the deliveries say who they are."""
        sender = self.rng.choice(CONTROLLERS)
        letter = self._letter(at, sender, (ALL_AGENTS,))
        queued = self._accept(at, letter)
        for target in self.rng.sample(AGENTS, self.rng.randint(2, 4)):
            self._deliver(self._open(letter, target, at), queued, at)

    def expired(self, at: int) -> None:
        """A message to an agent that is away, until its time is over."""
        letter, row = self._undelivered(at, DEFAULT_TTL_MS)
        self._expire(letter, [row])

    def expired_unheard(self, at: int) -> None:
        """The same, and its sender has gone too: the broker's word reaches nobody."""
        letter, row = self._undelivered(at, DEFAULT_TTL_MS)
        over = letter.expires_ms * 1000
        word = TtlExpired(id=letter.envelope.id)
        row.prove(Fate.EXPIRED, self._tell(over, letter.envelope, word, Direction.LOCAL))

    def expired_on_arrival(self, at: int) -> None:
        """A message whose time was over when it came: its sender's clock is off."""
        sender, target = self.rng.choice(CONTROLLERS), self.rng.choice(AGENTS)
        letter = self._letter(at, sender, (target,), ttl_ms=-60_000)
        self._in(at, sender, letter.raw, outcome=Outcome.EXPIRED)
        self._expire(letter, [self._open(letter, target, at)], at)

    def partly_expired(self, at: int) -> None:
        """A message to two agents, of which one is away."""
        sender = self.rng.choice(CONTROLLERS)
        here, away = self.rng.sample(AGENTS, 2)
        letter = self._letter(at, sender, (here, away))
        queued = self._accept(at, letter)
        rows = [self._open(letter, target, at) for target in (here, away)]
        self._deliver(rows[0], queued, at)
        self._expire(letter, rows)

    def lost(self, at: int) -> None:
        """A message of which nothing more is seen."""
        self._undelivered(at, DEFAULT_TTL_MS)

    def waiting(self, at: int) -> None:
        """A message that has time beyond the end."""
        self._undelivered(at, END_MS - at // 1000 + 3_600_000)

    def refused(self, at: int) -> None:
        """A message that the broker does not take."""
        description, reason = next(self._errors)
        sender, target = self.rng.choice(AGENTS), self.rng.choice(CONTROLLERS)
        letter = self._letter(at, sender, (target,))
        row = self._open(letter, target, at)
        self._in(at, sender, letter.raw, outcome=Outcome.REJECTED, reason=reason)
        error = ErrorMessage(id=letter.envelope.id, description=description)
        row.prove(Fate.REJECTED, self._tell(at, letter.envelope, error), reason)

    def associated(self, at: int) -> None:
        """A client makes itself known."""
        client = self.rng.choice((*CONTROLLERS, *AGENTS))
        self._associate(client, at, success=True)

    def association_refused(self, at: int) -> None:
        """A client makes itself known twice on one connection."""
        reason = "session already associated"
        self._associate(self.rng.choice(AGENTS), at, success=False, reason=reason)

    def inventory(self, at: int) -> None:
        """A controller asks who is connected."""
        sender = self.rng.choice(CONTROLLERS)
        type_ = MessageType.INVENTORY_REQUEST.value
        envelope = self._envelope(at, sender, (BROKER_URI,), type_)
        query = InventoryRequest(query=(ALL_AGENTS,))
        raw = encode(Packet(envelope=envelope, data=query))
        self._in(at, sender, raw, outcome=Outcome.ACCEPTED)
        found = tuple(sorted(self.rng.sample(AGENTS, self.rng.randint(2, 8))))
        self._tell(at, envelope, InventoryResponse(uris=found))

    def undecodable(self, at: int) -> None:
        """The broker tells a client that it could not read something."""
        client = self.rng.choice(AGENTS)
        envelope = self._envelope(at, client, (BROKER_URI,), TYPES[0])
        self._tell(at, envelope, ErrorMessage(description="Could not decode message"))

    def _associate(self, client: str, at: int, **answer: Any) -> None:
        type_ = MessageType.ASSOCIATE_REQUEST.value
        envelope = self._envelope(at, client, (BROKER_URI,), type_)
        self._in(at, client, encode(Packet(envelope=envelope)), outcome=Outcome.ACCEPTED)
        self._tell(at, envelope, AssociateResponse(id=envelope.id, **answer))

    def _undelivered(self, at: int, ttl_ms: int) -> tuple[Letter, Row]:
        """A message to an agent that is away; the broker tries in vain."""
        sender, target = self.rng.choice(CONTROLLERS), self.rng.choice(AGENTS)
        letter = self._letter(at, sender, (target,), ttl_ms=ttl_ms)
        self._accept(at, letter)
        self._victims.append(letter.envelope)
        return letter, self._open(letter, target, at)

    def _answer(self, letter: Letter, agent: str, at: int) -> None:
        asked = letter.envelope
        more = {"type_": ANSWER, "in_reply_to": asked.id}
        answer = self._letter(at, agent, (asked.sender,), **more)
        queued = self._accept(at, answer)
        self._deliver(self._open(answer, asked.sender, at), queued, at)

    def _envelope(
        self, at: int, sender: str, targets: tuple[str, ...], type_: str, **more: Any
    ) -> Envelope:
        ttl_ms = more.pop("ttl_ms", DEFAULT_TTL_MS)
        return Envelope(
            id=self.scene.uuid(),
            message_type=type_,
            expires=text_of(at // 1000 + ttl_ms),
            targets=targets,
            sender=sender,
            **more,
        )

    def _letter(self, at: int, sender: str, targets: tuple[str, ...], **more: Any) -> Letter:
        type_ = more.pop("type_", None) or self.rng.choice(TYPES)
        envelope = self._envelope(at, sender, targets, type_, **more)
        data = b'{"action":"run","n":%d}' % self.rng.randrange(10_000)
        return Letter(envelope, encode(Packet(envelope=envelope, data=data)), expires_ms(envelope))

    def _open(self, letter: Letter, target: str, at: int) -> Row:
        return self.scene.row(letter.envelope.id, target, deadline_ms=letter.expires_ms, at=at)

    def _in(self, at: int, sender: str, raw: bytes, **more: Any) -> bool:
        return self.scene.see(at, BROKER, Direction.IN, raw, link=LINK, peer=sender, **more)

    def _accept(self, at: int, letter: Letter) -> bytes:
        """The broker takes a message on; gives it with the notes of that."""
        self._in(at, letter.envelope.sender, letter.raw, outcome=Outcome.ACCEPTED)
        return letter.raw + _note(Stage.ACCEPTED, at) + _note(Stage.ACCEPT_TO_QUEUE, at + 1_000)

    def _deliver(self, row: Row, queued: bytes, at: int) -> int:
        at = self.scene.after(at, 4_000, SECOND_US)
        raw = queued + _note(Stage.DELIVER, at)
        self.scene.see(at, BROKER, Direction.OUT, raw, link=LINK, peer=row.destination)
        row.prove(Fate.DELIVERED, at)
        return at

    def _expire(self, letter: Letter, rows: Sequence[Row], at: int | None = None) -> None:
        """The broker tells the sender that time is over, when it is or at a given instant."""
        over = letter.expires_ms * 1000 if at is None else at
        told = self._tell(over, letter.envelope, TtlExpired(id=letter.envelope.id))
        for row in rows:
            row.prove(Fate.EXPIRED, told)

    def _tell(
        self, at: int, about: Envelope, data: BrokerData, direction: Direction = Direction.OUT
    ) -> int:
        """The broker answers the sender of a message, if it is there; gives the instant."""
        at = self.scene.after(at, 1_000, 3_000)
        type_ = _NAMES[type(data)]
        envelope = self._envelope(at, SERVER, (about.sender,), type_, ttl_ms=BROKER_TTL_MS)
        raw = encode(Packet(envelope=envelope, data=data))
        self.scene.see(at, BROKER, direction, raw, link=LINK, peer=about.sender)
        return at


def _note(stage: Stage, at: int) -> bytes:
    """A debug chunk: notes are appended, and what stands before them is not read again."""
    hop = Hop(server=SERVER, stage=stage.value, time=text_of(at // 1000))
    writer = Writer()
    put_chunk(writer, put_debug(DebugChunk(hops=(hop,))))
    return writer.finish()


_NAMES: Final = {cls: name for name, cls in BROKER_TYPES.items()}
