"""The hub's six errors as exceptions. A code that has a type of its own may come as either (R4)."""

import re
from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from wireloom.live.clients.errors import (
    FaultError,
    HubError,
    MessageTooLargeError,
    RateLimitedError,
    UnauthorizedError,
    UnknownActorError,
    VersionMismatchError,
)
from wireloom.protocols.signalhub.constants import ErrorCode
from wireloom.protocols.signalhub.messages import (
    TYPES,
    Error,
    MessageTooLarge,
    RateLimited,
    Unauthorized,
    UnknownActor,
    VersionMismatch,
)
from wireloom.protocols.signalhub.payloads import (
    ErrorPayload,
    MessageTooLargePayload,
    RateLimitedPayload,
    UnauthorizedPayload,
    UnknownActorPayload,
    VersionMismatchPayload,
)
from wireloom.wire.message import Message

_TYPE: Final = re.compile(rb'(?s)(?:"type"\s*:\s*"|\xa4type(?:[\xa1-\xbf]|\xd9.))([ !#-~]*)')
_SEARCHED_SIZE: Final = 1_024
_NOTICES: Final = frozenset({"hub:pause", "hub:resume", "hub:disconnect"})
"""What a hub says without being asked."""

_CLASSES: Final[dict[ErrorCode, type[HubError]]] = {
    ErrorCode.UNKNOWN_ACTOR: UnknownActorError,
    ErrorCode.UNAUTHORIZED: UnauthorizedError,
    ErrorCode.RATE_LIMITED: RateLimitedError,
    ErrorCode.VERSION_MISMATCH: VersionMismatchError,
    ErrorCode.MESSAGE_TOO_LARGE: MessageTooLargeError,
}


def may_answer(raw: bytes) -> bool:
    """Whether a frame that cannot be read may be an answer of the hub, by the type it shows."""
    found = _TYPE.search(raw, 0, _SEARCHED_SIZE)
    name = None if found is None else found[1].decode()
    return name is None or (name in TYPES and name not in _NOTICES)


def error_of(message: Message) -> HubError | None:
    """What went wrong, if the message says that something did."""
    tell = _TELLERS.get(type(message))
    return None if tell is None else tell(message, message.payload)  # type: ignore[attr-defined]


def _error(message: Any, code: ErrorCode, text: str, **more: Any) -> HubError:
    about = message.correlation_id
    error = _CLASSES.get(code, FaultError)(
        text, code, about=about if isinstance(about, str) else None, **more
    )
    if isinstance(error, RateLimitedError):
        error.retry_after_ms = _retry_after_ms(error.details)
    return error


def _fault(message: Any, fault: ErrorPayload) -> HubError:
    details = None if fault.details is UNSET else fault.details
    more = {"details": details, "retryable": fault.retryable}
    return _error(message, fault.code, fault.message, **more)


def _unknown_actor(message: Any, fault: UnknownActorPayload) -> HubError:
    return _error(message, ErrorCode.UNKNOWN_ACTOR, f"{fault.actor_address} is not registered")


def _unauthorized(message: Any, fault: UnauthorizedPayload) -> HubError:
    text = f"the hub does not permit {fault.action}: {fault.reason}"
    return _error(message, ErrorCode.UNAUTHORIZED, text)


def _rate_limited(message: Any, fault: RateLimitedPayload) -> HubError:
    text = f"the hub wants no more for {fault.retry_after} ms"
    details = {"retryAfter": fault.retry_after}
    return _error(message, ErrorCode.RATE_LIMITED, text, details=details)


def _version_mismatch(message: Any, fault: VersionMismatchPayload) -> HubError:
    return _error(message, ErrorCode.VERSION_MISMATCH, fault.message)


def _too_large(message: Any, fault: MessageTooLargePayload) -> HubError:
    text = f"{fault.message_size} bytes are too many, the hub takes {fault.max_size}"
    return _error(message, ErrorCode.MESSAGE_TOO_LARGE, text)


def _retry_after_ms(details: Any) -> int:
    """How long to wait, as far as it is said."""
    found = details.get("retryAfter") if isinstance(details, dict) else None
    return found if isinstance(found, int) else 0


_TELLERS: Final[dict[type[Message], Callable[[Any, Any], HubError]]] = {
    Error: _fault,
    UnknownActor: _unknown_actor,
    Unauthorized: _unauthorized,
    RateLimited: _rate_limited,
    VersionMismatch: _version_mismatch,
    MessageTooLarge: _too_large,
}
"""What each of the six says."""
