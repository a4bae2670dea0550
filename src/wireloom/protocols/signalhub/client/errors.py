"""What a hub refuses, as exceptions.

HubError              the hub refuses; one class for each of its six errors
FaultError          `hub:error`: expired, timed out, internal
UnknownActorError
UnauthorizedError
RateLimitedError    has `retry_after_ms`
VersionMismatchError
MessageTooLargeError
"""

from typing import Any

from wireloom.protocols.signalhub.constants import RETRYABLE, ErrorCode
from wireloom.wire.client.errors import ClientError


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
