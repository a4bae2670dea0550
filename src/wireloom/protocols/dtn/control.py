"""One control message and its bytes: a CBOR map whose `msgType` says what it is.

`checked` holds the rules that a declaration cannot say. It serves both directions.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from wireloom.protocols.dtn import cbor
from wireloom.protocols.dtn.constants import MAX_PAYLOAD_SIZE, MSG_TYPE_KEY
from wireloom.protocols.dtn.identity import short_id
from wireloom.protocols.dtn.maps import build, put_map, shape
from wireloom.protocols.dtn.messages import (
    ALL_TYPES,
    ControlMessage,
    GroupAnnounceMsg,
    LinkMetrics,
    Payment,
)
from wireloom.wire.errors import MalformedError, TooLargeError, UnknownTypeError
from wireloom.wire.message import Unknown


def take_control(raw: bytes, *, lenient: bool = False) -> ControlMessage | Unknown:
    """The control message, or application data, that is all of `raw`.

    Raises:
        WireError: If it is not one.
    """
    document = cbor.load_quickly(raw)
    if document is not None:
        msg_type = document.get(MSG_TYPE_KEY)
        quick = _QUICK.get(msg_type) if type(msg_type) is int else None
        if quick is not None and document.keys() <= quick[1]:
            try:
                message = msgspec.convert(document, quick[0], builtin_types=_BYTE_TYPES)
            except msgspec.ValidationError:
                pass  # it may still be of a form that needs preparation
            else:
                return checked(message)
    return _take_any(raw, lenient=lenient)


def put_control(message: ControlMessage) -> bytes:
    """The mirror of `take_control`; what it writes is not read back here.

    Raises:
        WireError: If it cannot be written.
    """
    if type(message) not in _CLASSES:
        raise UnknownTypeError(f"{type(message).__name__} is not a DTN message")
    return put_map(checked(message))


def checked(message: ControlMessage) -> ControlMessage:
    """`message`, if its fields agree with each other; a score in single precision.

    Raises:
        MalformedError: If they do not.
    """
    check = _CHECKS.get(type(message))
    return message if check is None else check(message)


def class_of(msg_type: object) -> type[ControlMessage] | None:
    """The class of messages with this `msgType`; true and 1.0 are not 1."""
    return _BY_NUMBER.get(msg_type) if type(msg_type) is int else None


def check_size(size: int) -> None:
    """Refuses a payload, or a message without a bundle, that is too large.

    Raises:
        TooLargeError: If it is.
    """
    if size > MAX_PAYLOAD_SIZE:
        raise TooLargeError(f"{size} bytes, a message has at most {MAX_PAYLOAD_SIZE}")


def _take_any(raw: bytes, *, lenient: bool) -> ControlMessage | Unknown:
    document = cbor.load(raw)
    msg_type = document.get(MSG_TYPE_KEY)
    if type(msg_type) is not int or msg_type < 0:
        missing = "is missing" if msg_type is None else f"cannot be {msg_type!r:.60}"
        raise MalformedError(f"msgType {missing}", offset=0)
    cls = class_of(msg_type)
    if cls is not None:
        return checked(build(cls, document, raw))
    if lenient:
        return Unknown(type=str(msg_type), raw=raw)
    raise UnknownTypeError(f"msgType {msg_type} is not known", offset=0)


def _checked_metrics(message: LinkMetrics) -> LinkMetrics:
    score = cbor.single(message.gateway_score)
    return msgspec.structs.replace(message, gateway_score=score)


def _checked_payment(message: Payment) -> Payment:
    if message.payer == message.payee:
        raise MalformedError("payer and payee are the same")
    return message


def _checked_announcement(message: GroupAnnounceMsg) -> GroupAnnounceMsg:
    try:
        derived = short_id(message.group_id_string)
    except UnicodeEncodeError:
        raise MalformedError("groupIdString cannot be written as UTF-8") from None
    if message.short_id != derived:
        raise MalformedError(f"shortId {message.short_id!r:.60} should be {derived!r}")
    return message


_BYTE_TYPES: Final = (bytes,)

_CLASSES: Final = frozenset(ALL_TYPES.values())

_BY_NUMBER: Final[dict[int, type[ControlMessage]]] = {cls.number: cls for cls in ALL_TYPES.values()}

_QUICK: Final[dict[int, tuple[type[ControlMessage], frozenset[str]]]] = {
    cls.number: (cls, shape(cls).simple) for cls in ALL_TYPES.values()
}
"""For messages without anything to prepare: the class, and the keys that need nothing done."""

_CHECKS: Final[dict[type[ControlMessage], Callable[[Any], ControlMessage]]] = {
    LinkMetrics: _checked_metrics,
    Payment: _checked_payment,
    GroupAnnounceMsg: _checked_announcement,
}
