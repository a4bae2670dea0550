"""Rules that need the time, or something that was seen before.

Each takes what it needs as arguments and keeps nothing. Those named `check_…` refuse by
raising; the reason is in the error.
"""

from collections.abc import Collection

from wireloom.protocols.dtn.constants import CancelReason, SubAction
from wireloom.protocols.dtn.integrity import authenticate, authenticate_control, expires_ms
from wireloom.protocols.dtn.messages import (
    Bundle,
    ConfigUpdate,
    DeliveryAck,
    DeliveryCancel,
    HopAck,
    Payment,
    SubMsg,
)
from wireloom.protocols.dtn.parts import BundleHeader
from wireloom.wire.errors import (
    BadSignatureError,
    ExpiredError,
    StaleError,
    UnauthenticatedError,
    UnauthorizedError,
)
from wireloom.wire.outcome import Auth


def check_lifetime(header: BundleHeader, *, now_ms: int) -> None:
    """Refuses a bundle that nobody may send or accept any more.

    Raises:
        ExpiredError: If its lifetime is over.
    """
    _check_not_over(expires_ms(header), now_ms)


def check_signer(bundle: Bundle) -> None:
    """Refuses to act on a bundle unless its sender stands for all that is in it (R4, R5).

    Raises:
        UnauthenticatedError: If the bundle or the message in it is not signed.
        BadSignatureError: If a signature does not hold.
        UnauthorizedError: If the message in it is another one's than the sender's.
    """
    _check_auth(authenticate(bundle, b"", ()), "the bundle")
    sender = bundle.header.src_pub
    payload = bundle.payload
    if isinstance(payload, HopAck) and payload.from_node != sender:
        raise UnauthorizedError("a HopAck of another node than the sender")
    if payload.signature_field is not None:
        _check_auth(authenticate_control(payload, [sender]), type(payload).__name__)


def check_ack(ack: DeliveryAck, *, destination_uid: bytes) -> None:
    """Refuses an acknowledgment that is not by the destination of the bundle it is about.

    Raises:
        UnauthorizedError: If it is another one's.
    """
    if ack.from_uid != destination_uid:
        raise UnauthorizedError("acknowledged by another user than the destination")


def check_cancel(
    cancel: DeliveryCancel, *, origin_uid: bytes, destination_uid: bytes | None
) -> None:
    """Refuses a cancellation by someone who has no say in the bundle (R6).

    Args:
        cancel: Its signature is checked already.
        origin_uid: Who sent the bundle; it may always cancel it.
        destination_uid: Whom it is for, if that is a user; it may once it has the bundle.

    Raises:
        UnauthorizedError: If it is by anyone else.
    """
    if cancel.issued_by_uid == origin_uid:
        return
    if cancel.issued_by_uid != destination_uid or cancel.reason is not CancelReason.ACKED:
        raise UnauthorizedError(f"{cancel.reason.name} by a user who may not say so")


def check_config(
    update: ConfigUpdate, *, trusted: Collection[bytes], applied_version: int | None, now_ms: int
) -> None:
    """Refuses a configuration that must not be applied.

    Args:
        update: As decoded.
        trusted: Public keys of managers; with none, every update is refused.
        applied_version: The version in force, if there is one.
        now_ms: The time.

    Raises:
        UnauthorizedError: If its issuer is not trusted.
        UnauthenticatedError: If it is not signed.
        BadSignatureError: If its signature does not hold.
        StaleError: If its version is not greater than the one in force.
        ExpiredError: If its time is over.
    """
    if update.issuer_key not in trusted:
        raise UnauthorizedError("the issuer is not trusted")
    _check_auth(authenticate_control(update, ()), "the update")
    if applied_version is not None and update.version <= applied_version:
        raise StaleError(f"version {update.version}, {applied_version} is in force")
    if update.expires_at_ms is not None:
        _check_not_over(update.expires_at_ms, now_ms)


def is_subscribed(message: SubMsg, *, now_ms: int) -> bool:
    """Whether the subscriber wants the topic, if this is the latest that it said."""
    over = message.expires_at is not None and message.expires_at <= now_ms
    return message.action is SubAction.SUBSCRIBE and not over


def replay_key(payment: Payment) -> tuple[bytes, int]:
    """What must be seen once only."""
    return payment.payer, payment.nonce


def latency_and_skew_ms(ack: DeliveryAck) -> tuple[int, int] | None:
    """How long a bundle took, at least 0, and by how much the clocks disagree (R18)."""
    if ack.latency_ms is None:
        return None
    return max(0, ack.latency_ms), max(0, -ack.latency_ms)


def _check_not_over(end_ms: int, now_ms: int) -> None:
    if now_ms >= end_ms:
        raise ExpiredError(f"expired {now_ms - end_ms} ms ago")


def _check_auth(auth: Auth, what: str) -> None:
    match auth:
        case Auth.UNSIGNED:
            raise UnauthenticatedError(f"{what} is not signed")
        case Auth.UNKNOWN_KEY:
            raise UnauthorizedError(f"{what} is another one's than the sender's")
        case Auth.INVALID:
            raise BadSignatureError(f"the signature of {what} does not hold")
