"""A DTN message in the columns that all protocols share."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from wireloom.protocols.dtn.bundles import is_bundle, take_envelope
from wireloom.protocols.dtn.constants import BUNDLE_PREFIX_SIZE, PRIORITIES, Destination
from wireloom.protocols.dtn.integrity import bundle_id, expires_ms
from wireloom.protocols.dtn.messages import (
    DEPRECATED,
    TYPES,
    Bundle,
    ConfigUpdate,
    ControlMessage,
    DeliveryAck,
    DeliveryCancel,
    GroupAnnounceMsg,
    HopAck,
    Payment,
    SubMsg,
)
from wireloom.protocols.dtn.parts import BundleHeader
from wireloom.wire.cursor import Reader
from wireloom.wire.errors import UnknownTypeError
from wireloom.wire.keys import uid
from wireloom.wire.message import Cast, Message, Summary, Unknown, rank_of_three
from wireloom.wire.plain import from_plain

_BUNDLE_KEY: Final = "header"
"""Only the fields of a bundle have it."""


def summarise(message: Message, raw: bytes) -> Summary:
    """What the common record says of `message`, which was decoded from `raw`.

    A bundle is named after what it carries.
    """
    if isinstance(message, Bundle):
        return _of_bundle(
            type(message.payload).__name__,
            message.header,
            _payload_cbor(raw),
            reply_to=_reply_to(message.payload),
        )
    if isinstance(message, Unknown):
        if is_bundle(raw):
            return _of_bundle(message.type, take_envelope(raw).header, _payload_cbor(raw))
        return Summary(type=message.type)
    if not isinstance(message, ControlMessage):
        raise UnknownTypeError(f"{type(message).__name__} is not a DTN message")
    tell = _TOLD.get(type(message))
    told = {} if tell is None else tell(message)
    priority = PRIORITIES[message.number]
    return Summary(
        type=type(message).__name__,
        priority_rank=rank_of_three(priority),
        reply_to=_reply_to(message),
        **told,
    )


def from_fields(type_: str, fields: object) -> Message:
    """The message that `wireloom decode` showed as `type_` and `fields`.

    Raises:
        WireError: If there is no such type, it is not composed any more (R17), or the
            fields do not make one.
    """
    if type_ in {cls.__name__ for cls in DEPRECATED}:
        raise UnknownTypeError(f"{type_} is deprecated and not composed any more")
    cls = TYPES.get(type_)
    if cls is None:
        raise UnknownTypeError(f"{type_!r:.60} is not a DTN message type")
    if not isinstance(fields, Mapping) or _BUNDLE_KEY not in fields:
        return from_plain(cls, fields)
    payload = fields.get("payload")
    built = payload if payload is None else from_plain(cls, payload, at="fields.payload")
    return from_plain(Bundle, {**fields, "payload": built})


def _payload_cbor(raw: bytes) -> bytes:
    """The payload of the bundle in `raw`."""
    header_size = Reader(raw, order="little").u32("header_length")
    return Reader(raw, offset=BUNDLE_PREFIX_SIZE + header_size).rest("payload")


def _of_bundle(
    type_: str, header: BundleHeader, payload_cbor: bytes, *, reply_to: str | None = None
) -> Summary:
    ((kind, destination),) = header.destinations().items()
    return Summary(
        type=type_,
        id=bundle_id(header, payload_cbor).hex(),
        source=uid(header.src_pub).hex(),
        destination=destination.hex(),
        created_ms=header.created_at,
        expires_ms=expires_ms(header),
        priority_rank=rank_of_three(header.priority),
        cast=_CASTS[kind],
        hops=None if header.route_path is None else len(header.route_path),
        reply_to=reply_to,
        payload_size=len(payload_cbor),
    )


def _reply_to(message: ControlMessage) -> str | None:
    """The bundle that a message acknowledges or cancels."""
    match message:
        case DeliveryAck() | DeliveryCancel():
            return message.msg_id.hex()
        case HopAck():
            return message.bundle_id.hex()
    return None


def _of_subscription(message: SubMsg) -> dict[str, Any]:
    return {
        "destination": message.topic_id.hex(),
        "created_ms": message.timestamp,
        "cast": Cast.TOPIC,
    }


def _of_hop_ack(message: HopAck) -> dict[str, Any]:
    return {"source": uid(message.from_node).hex(), "created_ms": message.timestamp}


def _of_payment(message: Payment) -> dict[str, Any]:
    return {
        "source": uid(message.payer).hex(),
        "destination": uid(message.payee).hex(),
        "cast": Cast.UNICAST,
    }


def _of_ack(message: DeliveryAck) -> dict[str, Any]:
    return {
        "source": message.from_uid.hex(),
        "destination": message.to_uid.hex(),
        "created_ms": message.delivered_at_ms,
        "cast": Cast.UNICAST,
        "hops": message.hop_count,
    }


def _of_cancel(message: DeliveryCancel) -> dict[str, Any]:
    return {"source": message.issued_by_uid.hex()}


def _of_announcement(message: GroupAnnounceMsg) -> dict[str, Any]:
    return {"source": message.creator_uid_hex.lower(), "created_ms": message.created_at}


def _of_config(message: ConfigUpdate) -> dict[str, Any]:
    return {"source": uid(message.issuer_key).hex(), "created_ms": message.issued_at_ms}


_CASTS: Final = {
    Destination.USER: Cast.UNICAST,
    Destination.NODE: Cast.UNICAST,
    Destination.TOPIC: Cast.TOPIC,
    Destination.CLUSTER: Cast.CLUSTER,
}

_TOLD: Final[dict[type[Message], Callable[[Any], dict[str, Any]]]] = {
    SubMsg: _of_subscription,
    HopAck: _of_hop_ack,
    Payment: _of_payment,
    DeliveryAck: _of_ack,
    DeliveryCancel: _of_cancel,
    GroupAnnounceMsg: _of_announcement,
    ConfigUpdate: _of_config,
}
"""What a message without a bundle says of its source, destination and time."""
