"""What all parts of a hub share in one turn: the time, ids, answers, and the commands so far."""

from collections import Counter

from wireloom.protocols.signalhub.constants import (
    RETRYABLE,
    Detail,
    ErrorCode,
)
from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.protocols.signalhub.hub.dialects import written
from wireloom.protocols.signalhub.hub.limits import Bucket, Budget, Meter, Seen
from wireloom.protocols.signalhub.hub.roster import Connection, Roster, State
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.messages import (
    Error,
    MessageTooLarge,
    RateLimited,
    Unauthorized,
)
from wireloom.protocols.signalhub.payloads import (
    ErrorPayload,
    MessageTooLargePayload,
    RateLimitedPayload,
    UnauthorizedPayload,
)
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Command, Conclude, Send, Turn

_MAX_SHOWN = 60
"""Characters of a client's words in an answer."""

_MAX_NAMES = 1_000
"""Slow readers that are counted by name; the rest together."""


class Desk:
    """The front of a hub: it answers, refuses and says goodbye.

    Args:
        settings: The hub's settings.
        ids: What makes its ids.
    """

    def __init__(self, settings: HubSettings, ids: Ids) -> None:
        self.settings = settings
        self.roster = Roster(settings)
        self.seen = Seen(settings)
        self.meter = Meter()
        self.budget = Budget(settings.slice_size, settings.slice_pause_ms)
        self.slow: Counter[str] = Counter()
        """How often a slow reader was cut off, by its address."""
        self.ids = ids
        self.id_head = ids.prefix.encode()
        self.written = written(settings.address)
        self.now_ms = 0
        self.out: list[Command] = []

    def begin(self, turn: Turn) -> list[Command]:
        """Begins a turn; gives the list that its commands go to."""
        self.now_ms = turn.now_ms
        self.out = turn.commands
        return self.out

    def next_id(self) -> str:
        """An id that no message had before."""
        return self.ids.next()

    def tell(
        self,
        connection: Connection,
        cls: type[SharedMessage],
        payload: object,
        *,
        answers: str | None = None,
        to: str | None = None,
        metadata: object = None,
    ) -> bytes:
        """Sends a message of the hub's own; what it has no value for is null (R17).

        Args:
            connection: Whom to tell.
            cls: The message's class.
            payload: What it says.
            answers: The id of the request.
            to: Which of the client's names is told; its own address if None.
            metadata: What is said about it; an empty object if nothing.

        Returns:
            The frame.
        """
        message = cls(
            id=self.next_id(),
            from_=self.settings.address,
            to=to or connection.address,
            pattern="tell",
            correlation_id=answers,
            timestamp=self.now_ms,
            payload=payload,
            metadata={} if metadata is None else metadata,
            ttl=None,
            signature=None,
        )
        raw = connection.dialect.write(message)
        self.out.append(Send(connection.line, raw, connection.dialect.text))
        return raw

    def answer(
        self,
        connection: Connection,
        message: SharedMessage,
        cls: type[SharedMessage],
        payload: object,
    ) -> bytes:
        """Answers a message under the name that it was sent in; gives the frame."""
        to = connection.name(message)
        return self.tell(connection, cls, payload, answers=message.id, to=to)

    def done(self, connection: Connection, message: SharedMessage, answer: bytes = b"") -> Conclude:
        """Notes that a message was done as it said; it is not done again (R35)."""
        self.seen.remember(connection.address, message.id, answer)
        return connection.accepted

    def refused(self, connection: Connection, reason: Reason) -> Conclude:
        """The outcome of a frame that is refused."""
        known = connection.state is State.CONNECTED
        return Conclude(Outcome.REJECTED, reason, connection.address if known else None)

    def fail(
        self,
        connection: Connection,
        code: ErrorCode,
        text: str,
        *,
        answers: str | None,
        to: str | None = None,
        retryable: bool | None = None,
        **details: object,
    ) -> None:
        """Tells of a fault; what may be tried again follows from the code if nothing is said."""
        payload = ErrorPayload(
            code=code,
            message=text,
            details=details or None,
            retryable=code in RETRYABLE if retryable is None else retryable,
        )
        self.tell(connection, Error, payload, answers=answers, to=to)

    def full(
        self, connection: Connection, message: SharedMessage, text: str, detail: Detail
    ) -> Conclude:
        """Refuses a request for which there is no room now."""
        code, to = ErrorCode.INTERNAL_ERROR, connection.name(message)
        self.fail(connection, code, text, answers=message.id, to=to, retryable=True, reason=detail)
        return self.refused(connection, Reason.QUEUE_FULL)

    def too_large(
        self,
        connection: Connection,
        size: int,
        answers: str,
        *,
        to: str | None = None,
        limit: int | None = None,
    ) -> Conclude:
        """Refuses a frame that is too large, or would be when passed on.

        Args:
            connection: Where it came from.
            size: How large it is.
            answers: Its id.
            to: In which of the client's names it came, if that can be told.
            limit: What the link grants the connection, where that is less than a message may have.
        """
        largest = self.settings.max_message_size
        limit = largest if limit is None else min(limit, largest)
        payload = MessageTooLargePayload(message_size=size, max_size=limit)
        self.tell(connection, MessageTooLarge, payload, answers=answers, to=to)
        return self.refused(connection, Reason.TOO_LARGE)

    def forbid(
        self, connection: Connection, message: SharedMessage, action: str, why: str
    ) -> Conclude:
        """Refuses what the client may not do."""
        payload = UnauthorizedPayload(action=f"{action:.{_MAX_SHOWN}}", reason=why)
        self.answer(connection, message, Unauthorized, payload)
        return self.refused(connection, Reason.UNAUTHORIZED)

    def slowed(
        self, connection: Connection, message: SharedMessage, bucket: Bucket
    ) -> Conclude | None:
        """Refuses what is one too many; None if the bucket has a token for it."""
        wait_ms = bucket.take(self.now_ms)
        return self.slow_down(connection, message, wait_ms) if wait_ms else None

    def slow_down(self, connection: Connection, message: SharedMessage, wait_ms: int) -> Conclude:
        """Refuses what is one too many; the same may come again after a while."""
        payload = RateLimitedPayload(retry_after=wait_ms)
        self.answer(connection, message, RateLimited, payload)
        return self.refused(connection, Reason.RATE_LIMITED)

    def name_slow(self, address: str) -> None:
        """Counts a reader that was cut off."""
        known = address in self.slow or len(self.slow) < _MAX_NAMES
        self.slow[address if known else "others"] += 1
