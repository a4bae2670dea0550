"""A frame as the JSON object that `decode` prints and `encode` reads."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from wireloom.cli.misuse import one_of
from wireloom.registry import WireProtocol
from wireloom.wire.errors import MalformedError, UnknownTypeError, WireError
from wireloom.wire.message import Message
from wireloom.wire.outcome import Reason
from wireloom.wire.plain import to_plain


def show(protocol: WireProtocol, raw: bytes, keys: Collection[bytes]) -> dict[str, Any]:
    """What `raw` is, accepted or refused."""
    try:
        return accepted(protocol, protocol.codec.decode(raw), raw, keys)
    except WireError as error:
        return refused(protocol, error)
    except Exception as error:  # a fault of ours must not stop the next frame
        return {
            **refused(protocol, WireError(f"{type(error).__name__}: {error}")),
            "reason": Reason.INTERNAL,
        }


def accepted(
    protocol: WireProtocol, message: Message, raw: bytes, keys: Collection[bytes]
) -> dict[str, Any]:
    """The object of a good frame."""
    summary = protocol.record.summarise(message, raw)
    return {
        "ok": True,
        "protocol": protocol.name,
        "type": summary.type,
        "id": summary.id,
        "source": summary.source,
        "destination": summary.destination,
        "created_at": iso(summary.created_ms),
        "expires_at": iso(summary.expires_ms),
        "priority_rank": summary.priority_rank,
        "auth": protocol.integrity.authenticate(message, raw, keys),
        "inner_auth": protocol.inner_auth(message, keys),
        "size": len(raw),
        "fields": to_plain(message),
    }


def refused(protocol: WireProtocol, error: WireError) -> dict[str, Any]:
    """The object of a refusal."""
    return {
        "ok": False,
        "protocol": protocol.name,
        "reason": error.reason,
        "detail": error.detail,
        "offset": error.offset,
    }


def hidden(protocol: WireProtocol, shown: object) -> Message:
    """The message that was shown as the object `shown`.

    Raises:
        WireError: If the object is not such a one.
    """
    if not isinstance(shown, dict) or shown.get("ok") is False:
        raise MalformedError("not an object that decode printed of an accepted frame")
    if shown.get("protocol", protocol.name) != protocol.name:
        raise MalformedError(f"a frame of {shown['protocol']!r:.60}, not of {protocol.name}")
    if not isinstance(shown.get("type"), str) or "fields" not in shown:
        raise MalformedError("type or fields are missing")
    try:
        return protocol.record.from_fields(shown["type"], shown["fields"])
    except UnknownTypeError as error:
        types = one_of(shown["type"], protocol.messages.TYPES)
        raise UnknownTypeError(f"{error.detail}. {types}") from None


def iso(ms: int | None) -> str | None:
    """An instant in UTC with milliseconds; None where the calendar does not reach."""
    if ms is None:
        return None
    try:
        at = datetime.fromtimestamp(ms // 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return f"{at:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"
