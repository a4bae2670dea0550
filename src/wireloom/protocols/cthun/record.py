"""A Cthun message in the columns that all protocols share."""

from typing import Any

import msgspec

from wireloom.protocols.cthun.messages import BROKER_TYPES, BrokerData, Packet
from wireloom.protocols.cthun.times import millis
from wireloom.wire.errors import MalformedError
from wireloom.wire.message import Message, Summary
from wireloom.wire.plain import from_plain


def summarise(message: Packet, raw: bytes) -> Summary:
    """What the common record says of `message`.

    An envelope does not tell when it was made. The first hop, noted where the message
    entered the fabric, comes closest.
    """
    del raw
    envelope = message.envelope
    hops = message.hops
    return Summary(
        type=envelope.message_type,
        id=envelope.id,
        source=envelope.sender,
        destination=envelope.targets,
        created_ms=millis(hops[0].time) if hops else None,
        expires_ms=millis(envelope.expires),
    )


def from_fields(type_: str, fields: object) -> Message:
    """The message that `wireloom decode` showed as `type_` and `fields`.

    Raises:
        WireError: If the fields do not make a message of that type.
    """
    if not isinstance(fields, dict):
        raise MalformedError("fields must be an object")
    others = {name: value for name, value in fields.items() if name != "data"}
    packet = from_plain(Packet, others)
    found = packet.envelope.message_type
    if found != type_:
        raise MalformedError(f"fields.envelope.message_type is {found!r:.80}, not {type_!r:.80}")
    return msgspec.structs.replace(packet, data=_data(type_, fields.get("data")))


def _data(type_: str, shown: Any) -> bytes | BrokerData | None:
    """The data chunk as `to_plain` shows it: an object, hex, or null if there is none."""
    if shown is None:
        return None
    cls = BROKER_TYPES.get(type_)
    if cls is not None:
        return from_plain(cls, shown, at="fields.data")
    try:
        return bytes.fromhex(shown)
    except (TypeError, ValueError):
        raise MalformedError(f"fields.data cannot be {shown!r:.60}") from None
