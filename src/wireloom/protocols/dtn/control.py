"""One control message and its bytes: a CBOR map whose `msgType` says what it is.

`checked` holds the rules that a declaration cannot say. It serves both directions.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import ValidationError, convert
from msgspec.structs import replace

from wireloom.protocols.dtn.cbor import load, load_quickly, single
from wireloom.protocols.dtn.constants import MAX_PAYLOAD_SIZE, MSG_TYPE_KEY
from wireloom.protocols.dtn.identity import short_id
from wireloom.protocols.dtn.maps import build, put_map, shape
from wireloom.protocols.dtn.messages import (
    ALL_TYPES,
    ControlMessage,
    Data,
    GroupAnnounceMsg,
    LinkMetrics,
    Payment,
)
from wireloom.wire.errors import MalformedError, TooLargeError, UnknownTypeError
from wireloom.wire.message import Unknown


def take_control(
    raw: bytes, *, lenient: bool = False, in_bundle: bool = True
) -> ControlMessage | Unknown:
    """The control message, or application data, that is all of `raw`.

    Args:
        raw: Any bytes.
        lenient: Give an `Unknown` for a type that is not known, instead of refusing it.
        in_bundle: Whether a bundle carries it; application data is not known without one (R28).

    Raises:
        WireError: If it is not one.
    """
    message = take_quickly(raw)
    if message is None or (isinstance(message, Data) and not in_bundle):
        return _take_any(raw, lenient=lenient, in_bundle=in_bundle)
    return message


def take_quickly(raw: bytes) -> ControlMessage | None:
    """The same, if it is of a known type and deterministic, with no unknown keys.

    None says nothing of what it is: `take_control` decides.
    """
    document = load_quickly(raw)
    if document is None:
        return None
    msg_type = document.get(MSG_TYPE_KEY)
    quick = _QUICK.get(msg_type) if type(msg_type) is int else None
    if quick is None:
        return None
    cls, keys, check = quick
    if not keys.issuperset(document) and not _is_simple(cls, document):
        return None
    try:
        message = convert(document, cls, builtin_types=_BYTE_TYPES)
        return message if check is None else check(message)
    except (ValidationError, MalformedError):
        return None


def _is_simple(cls: type[ControlMessage], document: dict[str, Any]) -> bool:
    """Whether the values of all keys, and those of maps in lists, need no preparation."""
    known = shape(cls)
    for key in document.keys() - known.simple:
        part = known.list_keys.get(key)
        items = document[key]
        if part is None or type(items) is not list:
            return False
        simple = shape(part).simple
        if not all(type(item) is dict and simple.issuperset(item) for item in items):
            return False
    return True


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
    """The class of messages with this `msgType` (R28); true and 1.0 are not 1."""
    return _BY_NUMBER.get(msg_type) if type(msg_type) is int else None


def check_size(size: int) -> None:
    """Refuses a payload, or a message without a bundle, that is too large.

    Raises:
        TooLargeError: If it is.
    """
    if size > MAX_PAYLOAD_SIZE:
        raise TooLargeError(f"{size} bytes, a message has at most {MAX_PAYLOAD_SIZE}")


def _take_any(raw: bytes, *, lenient: bool, in_bundle: bool) -> ControlMessage | Unknown:
    document = load(raw)
    msg_type = document.get(MSG_TYPE_KEY)
    if type(msg_type) is not int or msg_type < 0:
        missing = "is missing" if msg_type is None else f"cannot be {msg_type!r:.60}"
        raise MalformedError(f"msgType {missing}", offset=0)
    cls = class_of(msg_type)
    if cls is Data and not in_bundle:
        cls = None
    if cls is not None:
        return checked(build(cls, document, raw))
    if lenient:
        return Unknown(type=str(msg_type), raw=raw)
    where = " outside a bundle" if msg_type == Data.number else ""
    raise UnknownTypeError(f"msgType {msg_type} is not known{where}", offset=0)


def _checked_metrics(message: LinkMetrics) -> LinkMetrics:
    score = single(message.gateway_score)
    if score and score == message.gateway_score:
        return message
    return replace(message, gateway_score=score)


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

_CHECKS: Final[dict[type[ControlMessage], Callable[[Any], ControlMessage]]] = {
    LinkMetrics: _checked_metrics,
    Payment: _checked_payment,
    GroupAnnounceMsg: _checked_announcement,
}

_QUICK: Final[
    dict[int, tuple[type[ControlMessage], frozenset[str], Callable[[Any], ControlMessage] | None]]
] = {cls.number: (cls, shape(cls).simple, _CHECKS.get(cls)) for cls in ALL_TYPES.values()}
"""Class, keys whose values need no preparation, and rules, by number."""
