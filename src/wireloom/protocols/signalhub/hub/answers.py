"""What a hub says to a client in its own name: answers, refusals and faults, and what it said.

A message that was done as it said is not done again; if it comes once more, it gets the same answer
(R35). So the answers of the last time are remembered.
"""

from math import ceil
from typing import Final

from wireloom.protocols.signalhub.constants import RETRYABLE, Detail, ErrorCode
from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.protocols.signalhub.hub.connections import Client
from wireloom.protocols.signalhub.hub.outgoing import own
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
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.rates import Bucket
from wireloom.wire.seen import Seen
from wireloom.wire.session import Conclude, Send, Turn

RESERVED: Final = "types of the hub are its own"
"""Why an application's message is refused that would pass for one of the hub's."""

_MAX_SHOWN: Final = 60
"""Characters of a client's words in an answer."""

_ENTRY_SIZE: Final = 384
"""Bytes that a remembered answer takes beside its own and the half more that the encoder leaves
free: the id, the key of both, and its place."""


def refused(client: Client, reason: Reason) -> Conclude:
    """The outcome of a frame that is refused."""
    return Conclude(Outcome.REJECTED, reason, client.address if client.is_known else None)


class Answers:
    """Answers the clients of one hub.

    Args:
        settings: The hub's.
    """

    def __init__(self, settings: HubSettings) -> None:
        self._hub = settings.address
        self._max_message_size = settings.max_message_size
        self._seen: Seen[tuple[str, str], bytes] = Seen(
            settings.seen_max, max_size=settings.seen_size, span_ms=settings.seen_ms
        )
        self.known = self._seen.get
        """The answer to a message, by its actor and its id, and the time: empty if there was none
        to give, None if the message is new."""

    @property
    def size(self) -> int:
        """Bytes of all answers that are remembered."""
        return self._seen.size

    def remember(self, client: Client, message: SharedMessage, answer: bytes) -> None:
        """Notes the answer to a message that was done as it said."""
        size = len(answer) * 3 // 2 + _ENTRY_SIZE
        self._seen.put((client.address, message.id), answer, size)

    def done(self, client: Client, message: SharedMessage, answer: bytes = b"") -> Conclude:
        """Notes that a message was done as it said; it is not done again (R35)."""
        self.remember(client, message, answer)
        return client.accepted

    def tell(
        self,
        turn: Turn,
        client: Client,
        cls: type[SharedMessage],
        payload: object,
        *,
        answers: str | None = None,
        to: str | None = None,
    ) -> bytes:
        """Sends a message of the hub's own.

        Args:
            turn: The event's.
            client: Whom to tell.
            cls: The message's class.
            payload: What it says.
            answers: The id of the request.
            to: Which of the client's names is told; its own address if None.

        Returns:
            The frame.
        """
        to = to or client.address
        return self.send(
            turn, client, own(turn, cls, payload, hub=self._hub, to=to, answers=answers)
        )

    def send(self, turn: Turn, client: Client, message: SharedMessage) -> bytes:
        """Sends a message in the client's encoding; gives the frame."""
        raw = client.encoding.write(message)
        turn.commands.append(Send(client.line, raw, client.text))
        return raw

    def answer(
        self,
        turn: Turn,
        client: Client,
        message: SharedMessage,
        cls: type[SharedMessage],
        payload: object,
    ) -> bytes:
        """Answers a message under the name that it was sent in; gives the frame."""
        to = client.name(message)
        return self.tell(turn, client, cls, payload, answers=message.id, to=to)

    def full(
        self, turn: Turn, client: Client, message: SharedMessage, text: str, detail: Detail
    ) -> Conclude:
        """Refuses a request for which there is no room now."""
        self.answer(
            turn, client, message, Error, fault(ErrorCode.INTERNAL_ERROR, text, reason=detail)
        )
        return refused(client, Reason.QUEUE_FULL)

    def too_large(
        self,
        turn: Turn,
        client: Client,
        size: int,
        answers: str,
        *,
        to: str | None = None,
        limit: int | None = None,
    ) -> Conclude:
        """Refuses a frame that is too large, or would be when passed on.

        Args:
            turn: The event's.
            client: Where it came from.
            size: How large it is.
            answers: Its id.
            to: In which of the client's names it came, if that can be told.
            limit: What the link grants the connection, where that is less than a message may have.
        """
        largest = self._max_message_size
        limit = largest if limit is None else min(limit, largest)
        payload = MessageTooLargePayload(message_size=size, max_size=limit)
        self.tell(turn, client, MessageTooLarge, payload, answers=answers, to=to)
        return refused(client, Reason.TOO_LARGE)

    def forbid(
        self, turn: Turn, client: Client, message: SharedMessage, action: str, why: str
    ) -> Conclude:
        """Refuses what the client may not do."""
        payload = UnauthorizedPayload(action=f"{action:.{_MAX_SHOWN}}", reason=why)
        self.answer(turn, client, message, Unauthorized, payload)
        return refused(client, Reason.UNAUTHORIZED)

    def check_rate(
        self, turn: Turn, client: Client, message: SharedMessage, bucket: Bucket
    ) -> Conclude | None:
        """Refuses what is one too many; None if the bucket has a token for it."""
        wait_ms = bucket.take(turn.now_ms)
        return self.slow_down(turn, client, message, wait_ms) if wait_ms else None

    def slow_down(
        self, turn: Turn, client: Client, message: SharedMessage, wait_ms: float
    ) -> Conclude:
        """Refuses what is one too many; the same may come again after a while."""
        payload = RateLimitedPayload(retry_after=ceil(wait_ms))
        self.answer(turn, client, message, RateLimited, payload)
        return refused(client, Reason.RATE_LIMITED)


def fault(
    code: ErrorCode, text: str, *, retryable: bool | None = None, **details: object
) -> ErrorPayload:
    """What a `hub:error` says; what may be tried again follows from the code if not given."""
    return ErrorPayload(
        code=code,
        message=text,
        details=details or None,
        retryable=code in RETRYABLE if retryable is None else retryable,
    )
