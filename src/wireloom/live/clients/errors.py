"""What can go wrong for a client.

    ClientError
      UnreachableError      nobody listens at the address
      HandshakeError        who listens there opens no WebSocket, or TLS fails
      LostError             the connection ended; has the server's code and reason
        DeadError           heartbeats stay without answer
      AnswerTimeoutError    no answer came in time; a TimeoutError, too
      ClosedError           the client itself was closed
      UnsendableError       a message cannot be written, or is not for the wire
      UnreadableError       an answer came, or something else, that nobody understands
      HubError              the hub refuses; one class for each of its six errors
        FaultError          `hub:error`: expired, timed out, internal
        UnknownActorError
        UnauthorizedError
        RateLimitedError    has `retry_after_ms`
        VersionMismatchError
        MessageTooLargeError
      BrokerError           the broker refuses, or could not deliver
        AssociationError    it does not take the client
        RefusedError        `error_message`
        ExpiredError        `ttl_expired`

The text of each is one sentence for a person.
"""

from typing import Any

from wireloom.protocols.signalhub.constants import RETRYABLE, ErrorCode


class ClientError(Exception):
    """Something went wrong; the text says what."""


class UnreachableError(ClientError):
    """Nobody listens at the address."""


class HandshakeError(ClientError):
    """The address answers, but opens no WebSocket.

    Args:
        text: What happened.
        status: The HTTP status that was answered, if one was.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class LostError(ClientError):
    """The connection ended.

    Args:
        code: The WebSocket close code, if one came.
        reason: Why, in the server's words, if it said.
    """

    def __init__(self, code: int | None, reason: str = "") -> None:
        known = [f"{reason}"] if reason else []
        known += [f"code {code}"] if code is not None else []
        super().__init__("the connection was lost" + (f": {', '.join(known)}" if known else ""))
        self.code = code
        self.reason = reason


class DeadError(LostError):
    """The other side does not answer heartbeats any more."""

    def __init__(self) -> None:
        super().__init__(None, "heartbeats stay without answer")


class AnswerTimeoutError(ClientError, TimeoutError):
    """No answer came in time. Whether the request was done is not known."""


class ClosedError(ClientError):
    """The client was closed, or was never opened."""

    def __init__(self) -> None:
        super().__init__("the client is not open")


class UnsendableError(ClientError):
    """A message cannot be sent as it is."""


class UnreadableError(ClientError):
    """The server said what nobody understands."""


class HubError(ClientError):
    """The hub refuses something.

    Args:
        text: The hub's words.
        code: The kind of fault.
        about: The id of the message that it is about, if that is known.
        retryable: Whether the same may succeed later; what the code says if nothing is given.
        details: More about it, free.
    """

    def __init__(
        self,
        text: str,
        code: ErrorCode,
        *,
        about: str | None = None,
        retryable: bool | None = None,
        details: Any = None,
    ) -> None:
        super().__init__(text)
        self.code = code
        self.about = about
        self.retryable = code in RETRYABLE if retryable is None else retryable
        self.details = details


class FaultError(HubError):
    """A message expired or was not delivered in time, or the hub could not handle it."""


class UnknownActorError(HubError):
    """The recipient is not registered."""


class UnauthorizedError(HubError):
    """The hub does not permit it."""


class RateLimitedError(HubError):
    """The client sends too much."""

    retry_after_ms: int = 0
    """How long to wait."""


class VersionMismatchError(HubError):
    """Client and hub do not speak the same version."""


class MessageTooLargeError(HubError):
    """The message is larger than the hub takes."""


class BrokerError(ClientError):
    """The broker refuses something, or could not deliver it.

    Args:
        text: The broker's words.
        about: The id of the message that it is about, if that is known.
    """

    def __init__(self, text: str, about: str | None = None) -> None:
        super().__init__(text)
        self.about = about


class AssociationError(BrokerError):
    """The broker does not take the client under its name."""


class RefusedError(BrokerError):
    """The broker could not handle a message."""


class ExpiredError(BrokerError):
    """A message expired before all its targets had it."""
