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

The text of each is one sentence for a person. Those of the hub and the broker are defined by
their protocols, most others are common to all clients; here they are together.
"""

from wireloom.protocols.cthun.client.errors import (
    AssociationError,
    BrokerError,
    ExpiredError,
    RefusedError,
)
from wireloom.protocols.signalhub.client.errors import (
    FaultError,
    HubError,
    MessageTooLargeError,
    RateLimitedError,
    UnauthorizedError,
    UnknownActorError,
    VersionMismatchError,
)
from wireloom.wire.client.errors import (
    AnswerTimeoutError,
    ClientError,
    ClosedError,
    DeadError,
    LostError,
    UnreachableError,
    UnreadableError,
    UnsendableError,
)

__all__ = [
    "AnswerTimeoutError",
    "AssociationError",
    "BrokerError",
    "ClientError",
    "ClosedError",
    "DeadError",
    "ExpiredError",
    "FaultError",
    "HandshakeError",
    "HubError",
    "LostError",
    "MessageTooLargeError",
    "RateLimitedError",
    "RefusedError",
    "UnauthorizedError",
    "UnknownActorError",
    "UnreachableError",
    "UnreadableError",
    "UnsendableError",
    "VersionMismatchError",
]


class HandshakeError(ClientError):
    """The address answers, but opens no WebSocket.

    Args:
        text: What happened.
        status: The HTTP status that was answered, if one was.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status
