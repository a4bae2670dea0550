"""Messages with a fate at the hub: sends, publications, broadcasts, and forged answers."""

from collections import deque
from collections.abc import Sequence
from itertools import cycle
from typing import Any, Final

from wireloom.generate.hub import ACTORS, Hub, deadline_ms
from wireloom.generate.hub_chatter import CAPABILITY, TOPICS, Chatter
from wireloom.generate.scene import VICTIMS, Conversations, Kind, Scene
from wireloom.generate.timeline import MINUTE_US, SECOND_US
from wireloom.generate.truth import Row
from wireloom.protocols.signalhub.constants import RETRYABLE, DeliveryStatus, ErrorCode
from wireloom.protocols.signalhub.envelope import Inner, SharedMessage
from wireloom.protocols.signalhub.messages import (
    Broadcast,
    BroadcastAck,
    DeliveryAck,
    Error,
    MessageTooLarge,
    Publish,
    Published,
    RateLimited,
    Send,
    Unauthorized,
    UnknownActor,
)
from wireloom.protocols.signalhub.metadata import (
    BroadcastMetadata,
    SendMetadata,
)
from wireloom.protocols.signalhub.payloads import (
    BroadcastAckPayload,
    BroadcastPayload,
    DeliveryAckPayload,
    ErrorPayload,
    MessageTooLargePayload,
    PublishedPayload,
    PublishPayload,
    RateLimitedPayload,
    SendPayload,
    UnauthorizedPayload,
    UnknownActorPayload,
)
from wireloom.wire.outcome import Fate, Outcome, Reason

GONE: Final = "@(browser/closed-tab)"
"""An actor that is not registered."""

WELL_BEYOND_MS: Final = 12 * 3_600_000
SUBJECTS: Final = ("task:assign", "task:done", "cursor:move", "chat:line")


def fault(code: ErrorCode, message: str, **details: str) -> ErrorPayload:
    """What a `hub:error` says."""
    return ErrorPayload(
        code=code, message=message, details=details or None, retryable=code in RETRYABLE
    )


REFUSALS: Final[tuple[tuple[Reason, type[SharedMessage], object], ...]] = (
    (
        Reason.UNKNOWN_DESTINATION,
        UnknownActor,
        UnknownActorPayload(actor_address=GONE, message="Actor not registered"),
    ),
    (
        Reason.UNAUTHORIZED,
        Unauthorized,
        UnauthorizedPayload(action="send", reason="Missing capability"),
    ),
    (Reason.RATE_LIMITED, RateLimited, RateLimitedPayload(retry_after=2000)),
    (
        Reason.TOO_LARGE,
        MessageTooLarge,
        MessageTooLargePayload(message_size=70_000, max_size=65_536),
    ),
    (
        Reason.MALFORMED,
        Error,
        fault(ErrorCode.INTERNAL_ERROR, "Not a message", reason="invalid_message"),
    ),
    (Reason.INTERNAL, Error, fault(ErrorCode.INTERNAL_ERROR, "Storage is away")),
    (Reason.UNSUPPORTED_VERSION, Error, fault(ErrorCode.VERSION_MISMATCH, "Speak 0.1")),
)
"""Why the hub refuses a message, and how it says so."""


class HubConversations(Conversations):
    """All that passes the hub."""

    protocol = "signalhub"

    def __init__(self, scene: Scene) -> None:
        self.hub = Hub(scene)
        self.chatter = Chatter(self.hub)
        self._victims: deque[SharedMessage] = deque(maxlen=VICTIMS)
        self._refusals = cycle(REFUSALS)
        self._ends = cycle((ErrorCode.TIMEOUT, ErrorCode.MESSAGE_EXPIRED))
        super().__init__(scene)

    def kinds(self) -> Sequence[Kind]:
        """Conversations with a fate, and the chatter beside them."""
        return (
            (10, self.told),
            (12, self.asked),
            (3, self.queued_and_delivered),
            (2, self.queued_and_expired),
            (1, self.queued),
            (2, self.expired),
            (2, self.lost),
            (3, self.refused),
            *[(0, self.refused)] * (len(REFUSALS) - 1),
            (5, self.published),
            (1, self.published_in_vain),
            (1, self.publication_refused),
            (2, self.broadcast),
            (1, self.broadcast_queued),
            (1, self.broadcast_in_vain),
            *self.chatter.kinds(),
        )

    def opening(self, at: int) -> None:
        """All actors connect and register."""
        for number, actor in enumerate(ACTORS):
            self.chatter.connect(actor, at + number * SECOND_US // 10)

    def forge(self, at: int) -> None:
        """An actor speaks for the hub about a message that is under way."""
        if not self._victims:
            return
        victim = self.rng.choice(self._victims)
        seen_at = self.scene.after(at, 1, SECOND_US)
        forgeries: tuple[tuple[type[SharedMessage], object], ...] = (
            (DeliveryAck, _receipt(victim, seen_at, DeliveryStatus.DELIVERED)),
            (Error, fault(ErrorCode.TIMEOUT, "Message delivery timed out")),
        )
        cls, payload = self.rng.choice(forgeries)
        before = self.scene.count
        self.hub.heard(
            cls,
            self.rng.choice(ACTORS),
            seen_at,
            pattern="tell",
            correlation_id=victim.id,
            payload=payload,
            outcome=Outcome.REJECTED,
            reason=Reason.UNAUTHORIZED,
        )
        if self.scene.count > before:
            self.scene.truth.forged()

    def told(self, at: int) -> None:
        """A message that the hub passes on at once."""
        message, row = self._send(at, pattern="tell")
        row.prove(Fate.DELIVERED, self._forward(message, at))

    def asked(self, at: int) -> None:
        """A message that the hub passes on and acknowledges; often it is answered in kind."""
        message, row = self._send(at)
        done = self._forward(message, at)
        row.prove(Fate.DELIVERED, done)
        self._acknowledge(message, done, DeliveryStatus.DELIVERED)
        if self.rng.random() < 0.5:
            route = (str(row.destination), message.from_)
            again = self.scene.after(done, 20_000, SECOND_US)
            answer, back = self._send(again, route, pattern="tell")
            back.prove(Fate.DELIVERED, self._forward(answer, again))

    def queued_and_delivered(self, at: int) -> None:
        """A message that waits until its target is back."""
        message, row = self._send(at, ttl=10 * 60_000, outcome=Outcome.QUEUED)
        self._acknowledge(message, at, DeliveryStatus.QUEUED)
        back = self.scene.after(at, 5 * SECOND_US, 9 * MINUTE_US)
        row.prove(Fate.DELIVERED, self._forward(message, back))

    def queued_and_expired(self, at: int) -> None:
        """A message whose target does not come back in time."""
        message, row = self._send(at, ttl=60_000, outcome=Outcome.QUEUED)
        self._acknowledge(message, at, DeliveryStatus.QUEUED)
        self._give_up(message, row, at + MINUTE_US)

    def queued(self, at: int) -> None:
        """A message that waits beyond the end."""
        message, _ = self._send(at, ttl=WELL_BEYOND_MS, outcome=Outcome.QUEUED)
        self._acknowledge(message, at, DeliveryStatus.QUEUED)
        self._victims.append(message)

    def expired(self, at: int) -> None:
        """A message that the hub could not deliver in time."""
        message, row = self._send(at)
        self._give_up(message, row, at + 30 * SECOND_US)

    def lost(self, at: int) -> None:
        """A message of which nothing more is seen."""
        message, _ = self._send(at)
        self._victims.append(message)

    def refused(self, at: int) -> None:
        """A message that the hub refuses; the ways to say so take turns."""
        reason, cls, payload = next(self._refusals)
        route = (self.rng.choice(ACTORS), GONE) if cls is UnknownActor else None
        message, row = self._send(at, route, outcome=Outcome.REJECTED, reason=reason)
        row.prove(Fate.REJECTED, self._reply(cls, message, at, payload), reason)

    def published(self, at: int) -> None:
        """A message to a topic, passed on to its subscribers, if it has any."""
        message, row = self._publish(at)
        readers = self.rng.sample(ACTORS, self.rng.randint(0, 3))
        inner = message.payload.message
        for reader in readers:
            at = self.hub.forwarded(message, inner, reader, at)
        payload = PublishedPayload(topic=message.payload.topic, subscriber_count=len(readers))
        told = self._reply(Published, message, at, payload)
        if readers:
            row.prove(Fate.DELIVERED, told)
        else:
            row.prove(Fate.REJECTED, told, Reason.UNKNOWN_DESTINATION)

    def published_in_vain(self, at: int) -> None:
        """A message to a topic of which nothing more is seen."""
        message, _ = self._publish(at)
        self._victims.append(message)

    def publication_refused(self, at: int) -> None:
        """A message to a topic, from someone who sends too much."""
        message, row = self._publish(at, outcome=Outcome.REJECTED, reason=Reason.RATE_LIMITED)
        told = self._reply(RateLimited, message, at, RateLimitedPayload(retry_after=1500))
        row.prove(Fate.REJECTED, told, Reason.RATE_LIMITED)

    def broadcast(self, at: int) -> None:
        """A message to all actors."""
        row, told = self._broadcast(at, readers=self.rng.sample(ACTORS, 3))
        row.prove(Fate.DELIVERED, told)

    def broadcast_queued(self, at: int) -> None:
        """A message to all actors, of which those that it is for are away."""
        row, told = self._broadcast(at, queued_count=2)
        row.prove(Fate.DELIVERED, told)

    def broadcast_in_vain(self, at: int) -> None:
        """A message to all actors that nobody gets."""
        row, told = self._broadcast(at, failed_count=self.rng.randint(0, 1))
        row.prove(Fate.REJECTED, told, Reason.UNKNOWN_DESTINATION)

    def _broadcast(
        self, at: int, *, readers: Sequence[str] = (), queued_count: int = 0, failed_count: int = 0
    ) -> tuple[Row, int]:
        """A broadcast, and when the hub says whom it reached."""
        inner = Inner(type="system:notice", payload={"text": "maintenance at noon"})
        message = self.hub.heard(
            Broadcast,
            self.rng.choice(ACTORS),
            at,
            pattern="tell",
            payload=BroadcastPayload(message=inner, exclude_self=True),
            metadata=BroadcastMetadata(target_capability=CAPABILITY),
        )
        row = self._open(message, at)
        for reader in readers:
            at = self.hub.forwarded(message, inner, reader, at)
        payload = BroadcastAckPayload(
            message_id=message.id,
            delivered_count=len(readers),
            queued_count=queued_count,
            failed_count=failed_count,
        )
        return row, self._reply(BroadcastAck, message, at, payload)

    def _send(self, at: int, route: tuple[str, str] | None = None, **more: Any) -> tuple[Send, Row]:
        """A message from one actor to another, at random if none are given."""
        source, target = route or self.hub.pair()
        pattern = more.setdefault("pattern", "ask")
        message = self.hub.heard(
            Send,
            source,
            at,
            payload=SendPayload(target_address=target, message=self._inner()),
            metadata=SendMetadata(require_ack=pattern == "ask", priority=self.rng.randint(0, 2)),
            **more,
        )
        return message, self._open(message, at, target)

    def _publish(self, at: int, **more: Any) -> tuple[Publish, Row]:
        payload = PublishPayload(topic=self.rng.choice(TOPICS), message=self._inner())
        source = self.rng.choice(ACTORS)
        message = self.hub.heard(Publish, source, at, pattern="tell", payload=payload, **more)
        return message, self._open(message, at)

    def _inner(self) -> Inner:
        number = self.rng.randrange(10_000)
        return Inner(
            type=self.rng.choice(SUBJECTS), payload={"n": number, "text": "x" * (number % 50)}
        )

    def _open(self, message: SharedMessage, at: int, target: str | None = None) -> Row:
        return self.scene.row(message.id, target, deadline_ms=deadline_ms(message), at=at)

    def _forward(self, message: Send, at: int) -> int:
        inner, target = message.payload.message, message.payload.target_address
        return self.hub.forwarded(message, inner, target, at)

    def _reply(
        self, cls: type[SharedMessage], message: SharedMessage, at: int, payload: object
    ) -> int:
        return self.hub.said(cls, message.from_, at, correlation_id=message.id, payload=payload)

    def _acknowledge(self, message: Send, at: int, status: DeliveryStatus) -> None:
        self._reply(DeliveryAck, message, at, _receipt(message, at, status))

    def _give_up(self, message: Send, row: Row, at: int) -> None:
        code = next(self._ends)
        told = self._reply(Error, message, at, fault(code, "Message was not delivered in time"))
        row.prove(Fate.EXPIRED, told)
        self._victims.append(message)


def _receipt(message: SharedMessage, at: int, status: DeliveryStatus) -> DeliveryAckPayload:
    return DeliveryAckPayload(message_id=message.id, delivered_at=at // 1000, status=status)
