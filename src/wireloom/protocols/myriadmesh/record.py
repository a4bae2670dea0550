"""A MyriadMesh frame in the columns that all protocols share."""

from collections.abc import Mapping
from typing import Any, Final

from wireloom.protocols.myriadmesh.constants import DEFAULT_TTL, Band, Command, Flags, MessageType
from wireloom.protocols.myriadmesh.header import BROADCAST, Header, framing_size, read_header
from wireloom.protocols.myriadmesh.messages import TYPES, Ack, Error, Frame, Sealed
from wireloom.wire.errors import MalformedError, UnknownTypeError
from wireloom.wire.message import Cast, Message, Summary, Unknown
from wireloom.wire.plain import from_plain

_RANKS: Final = tuple(sum(priority < band for band in Band) for priority in range(256))
"""How many bands are above a priority: 0 in EMERGENCY, 4 in BACKGROUND."""


def summarise(message: Frame | Unknown, raw: bytes) -> Summary:
    """What the common record says of `message`, which was decoded from `raw`.

    A frame lives by its hops, so none expires at a time. It does not say how many it began
    with: `hops` takes that for the usual number.
    """
    seen: Header | Frame
    if isinstance(message, Unknown):
        name, seen = message.type, read_header(raw)
    else:
        name, seen = message.message_type.name, message
    return Summary(
        type=name,
        id=seen.message_id.hex(),
        source=seen.source_node_id.hex(),
        destination=seen.dest_node_id.hex(),
        created_ms=seen.timestamp,
        priority_rank=priority_rank(seen.priority),
        cast=Cast.BROADCAST if seen.flags & BROADCAST else Cast.UNICAST,
        hops=hops(seen.ttl),
        reply_to=_reply_to(message),
        payload_size=len(raw) - framing_size(seen.flags),
    )


def hops(ttl: int) -> int:
    """How many hops a frame took that began with the usual number; 0 if it began with more."""
    return max(0, DEFAULT_TTL - ttl)


def _reply_to(message: Frame | Unknown) -> str | None:
    if isinstance(message, Frame) and isinstance(message.payload, Ack | Error):
        return message.payload.original_message_id.hex()
    return None


def priority_rank(priority: int) -> int:
    """A priority from 0 to 255 on the scale that all protocols share."""
    return _RANKS[priority]


def from_fields(type_: str, fields: object) -> Message:
    """The frame that `wireloom decode` showed as `type_` and `fields`.

    Raises:
        WireError: If there is no such type, or the fields do not make a frame of it.
    """
    if type_ not in TYPES:
        raise UnknownTypeError(f"{type_!r:.60} is not a MyriadMesh message type")
    given = dict(_mapping(fields, "fields"))
    if given.setdefault("message_type", type_) != type_:
        raise MalformedError(f"fields.message_type is not {type_}")
    return _frame(given, "fields", batched=False)


def _frame(given: dict[str, Any], at: str, *, batched: bool) -> Frame:
    """A frame whose payload is of the class that type, flags and command ask for."""
    inside = f"{at}.payload"
    payload = dict(_mapping(given.get("payload"), inside))
    if "messages" in payload and not batched:
        payload["messages"] = [
            _frame(
                dict(_mapping(one, f"{inside}.messages[{i}]")),
                f"{inside}.messages[{i}]",
                batched=True,
            )
            for i, one in enumerate(_list(payload["messages"], f"{inside}.messages"))
        ]
    cls = _payload_class(given, payload, at)
    return from_plain(Frame, {**given, "payload": from_plain(cls, payload, at=inside)}, at=at)


def _payload_class(given: dict[str, Any], payload: dict[str, Any], at: str) -> type[Message]:
    flags = _list(given.get("flags", []), f"{at}.flags")
    if Flags.ENCRYPTED.name.lower() in flags:
        return Sealed
    name = given.get("message_type")
    if name == MessageType.CONTROL.name:
        if Flags.ACK.name.lower() in flags:
            return Ack
        if payload.get("command") == Command.ERROR.name:
            return Error
    cls = TYPES.get(name) if isinstance(name, str) else None
    if cls is None:
        names = ", ".join(TYPES)
        raise MalformedError(f"{at}.message_type cannot be {name!r:.60}: choose one of {names}")
    return cls


def _mapping(value: object, at: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MalformedError(f"{at} must be an object")
    return value


def _list(value: object, at: str) -> list[Any]:
    if not isinstance(value, list):
        raise MalformedError(f"{at} must be a list")
    return value
