"""Who sent a message, as far as it tells, and whether it is fresh.

Only a `hub:connect` carries a proof: its token. What follows on the same connection is
trusted because of it. The envelope's `signature` is reserved, and nothing defines it yet.
"""

from collections.abc import Collection

from msgspec import UNSET

from wireloom.protocols.signalhub import tokens
from wireloom.protocols.signalhub.constants import REPLAY_WINDOW_MS
from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.protocols.signalhub.messages import Connect
from wireloom.protocols.signalhub.redaction import is_redacted
from wireloom.wire.errors import ExpiredError, StaleError, UnauthenticatedError
from wireloom.wire.message import Message
from wireloom.wire.outcome import Auth


def authenticate(message: Message, raw: bytes, keys: Collection[bytes]) -> Auth:
    """What is known of a frame's authenticity; times and claims are not looked at.

    Args:
        message: As decoded from `raw`.
        raw: The frame.
        keys: Ed25519 public keys whose tokens are taken.
    """
    del raw
    if isinstance(message, Connect) and isinstance(message.metadata.auth_token, str):
        return _token_auth(message.metadata.auth_token, keys)
    if isinstance(message, SharedMessage) and isinstance(message.signature, str):
        return Auth.UNCHECKED
    return Auth.UNSIGNED


def _token_auth(token: str, public_keys: Collection[bytes]) -> Auth:
    if is_redacted(token):
        return Auth.UNCHECKED  # it was checked by the hub, and a capture does not show it
    try:
        jws = tokens.take_jws(token)
    except UnauthenticatedError:
        return Auth.INVALID
    if jws.algorithm is tokens.Algorithm.HS256:
        return Auth.UNCHECKED  # the secret is the hub's alone
    if not public_keys:
        return Auth.UNKNOWN_KEY
    return Auth.VALID if tokens.is_signed(jws, public_keys=public_keys) else Auth.INVALID


def expires_ms(message: SharedMessage) -> int | None:
    """When the message's lifetime ends, in ms since 1970; None if it lives for ever."""
    if message.ttl is UNSET or message.ttl is None:
        return None
    return message.timestamp + message.ttl


def check_fresh(message: SharedMessage, *, now_ms: int) -> None:
    """Refuses a message that may not be handled, queued or delivered any more (R32).

    Raises:
        ExpiredError: If its lifetime is over.
        StaleError: If it is so old that it may be a replay.
    """
    ends_ms = expires_ms(message)
    if ends_ms is not None and ends_ms < now_ms:
        raise ExpiredError(f"expired {now_ms - ends_ms} ms ago")
    age_ms = now_ms - message.timestamp
    if age_ms > REPLAY_WINDOW_MS:
        raise StaleError(f"{age_ms} ms old, at most {REPLAY_WINDOW_MS} are taken")
