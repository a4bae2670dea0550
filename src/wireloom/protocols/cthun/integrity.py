"""Who may say what, and for how long: senders, expiry, redelivery.

A Cthun frame carries no proof of its own. The sender's proof is the certificate of the TLS
connection that it came by, so that frame and certificate have to be brought together here.
"""

from collections.abc import Collection

from wireloom.protocols.cthun.constants import SERVER_TYPE
from wireloom.protocols.cthun.messages import Envelope
from wireloom.protocols.cthun.times import millis
from wireloom.protocols.cthun.uris import parse
from wireloom.wire.errors import UnauthenticatedError
from wireloom.wire.message import Message
from wireloom.wire.outcome import Auth


def authenticate(message: Message, raw: bytes, keys: Collection[bytes]) -> Auth:
    """What a frame proves by itself, which is nothing: see `check_sender`.

    Args:
        message: As decoded from `raw`.
        raw: The frame.
        keys: Not used: no key signs a frame.
    """
    del message, raw, keys
    return Auth.UNCHECKED


def check_sender(sender: str, common_name: str) -> None:
    """Refuses a client's message whose sender is not the client (R21).

    Args:
        sender: The URI in the envelope.
        common_name: That of the client's certificate.

    Raises:
        MalformedError: If the sender is no URI.
        UnauthenticatedError: If it names another node, or claims to be a broker.
    """
    uri = parse(sender)
    if uri.type == SERVER_TYPE:
        raise UnauthenticatedError(f"{sender} claims to be a broker")
    if uri.common_name != common_name:
        raise UnauthenticatedError(f"{sender} was sent with the certificate of {common_name!r:.80}")


def expires_ms(envelope: Envelope) -> int:
    """When a message stops being valid, in ms since 1970."""
    return millis(envelope.expires)


def redelivery_delay_ms(left_ms: int, *, least: int, most: int) -> int:
    """How long to wait before the next attempt: half of the time that is left, within bounds."""
    return max(least, min(most, left_ms // 2))
