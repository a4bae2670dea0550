"""A Cthun message in the columns that all protocols share."""

from typing import Any

import msgspec
from msgspec import UNSET

from wireloom.protocols.cthun.chunks import walk
from wireloom.protocols.cthun.constants import WILDCARD, ChunkType
from wireloom.protocols.cthun.messages import BROKER_TYPES, BrokerData, Packet
from wireloom.protocols.cthun.times import millis
from wireloom.wire.cursor import Reader
from wireloom.wire.errors import MalformedError
from wireloom.wire.message import Cast, Message, Summary
from wireloom.wire.plain import from_plain


def summarise(message: Packet, raw: bytes) -> Summary:
    """What the common record says of `message`, which was decoded from `raw`.

    An envelope does not tell when it was made. The first hop, noted where the message
    entered the fabric, comes closest.
    """
    envelope = message.envelope
    hops = message.hops
    return Summary(
        type=envelope.message_type,
        id=envelope.id,
        source=envelope.sender,
        destination=envelope.targets,
        created_ms=millis(hops[0].time) if hops else None,
        expires_ms=millis(envelope.expires),
        cast=_cast(envelope.targets),
        hops=len(hops),
        reply_to=_reply_to(message),
        payload_size=_data_size(message, raw),
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


def _cast(targets: tuple[str, ...]) -> Cast:
    if any(WILDCARD in target for target in targets):
        return Cast.WILDCARD
    return Cast.MULTI if len(targets) > 1 else Cast.UNICAST


def _reply_to(packet: Packet) -> str | None:
    """The message that the broker reports on, or else the one that the envelope names."""
    answered = getattr(packet.data, "id", UNSET)
    if answered is UNSET:
        answered = packet.envelope.in_reply_to
    return None if answered is UNSET else answered


def _data_size(packet: Packet, raw: bytes) -> int:
    """Bytes of the data chunk; what the broker says need not be written as it would be here."""
    if packet.data is None:
        return 0
    if isinstance(packet.data, bytes):
        return len(packet.data)
    chunks = walk(Reader(raw))
    return next(len(chunk.content) for chunk in chunks if chunk.type is ChunkType.DATA)


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
