"""Signal Hub messages and their bytes: JSON text, or MessagePack of the same map (R14).

```
{"type": "hub:…", "id": "…", "from": "@(…)", "to": "@(…)", "pattern": "tell" or "ask",
 "correlationId": …, "timestamp": ms, "payload": …, "metadata": {…}, "ttl": ms, "signature": …}
```

Most frames are compact JSON, and msgspec decodes those at once. It does not see a key that
stands twice, so the message is written again: no value is written longer than it was read
(floats may be, and are kept off this way), a field that is absent stays absent, and of two
equal keys one is lost. Equal length proves that there were none. All else goes the exact
way: a strict reading of the document first, the message from that.
"""

from collections.abc import Callable
from itertools import chain
from math import isfinite
from typing import Any, Final, NoReturn, Union

import msgspec
from msgspec import UNSET, UnsetType

from wireloom.protocols.signalhub import spans as places
from wireloom.protocols.signalhub.constants import HUB_PREFIX, MAX_MESSAGE_SIZE
from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.protocols.signalhub.messages import (
    HUB_CLASSES,
    TYPES,
    ActorList,
    Application,
    Broadcast,
    Discovered,
    Error,
    Publish,
    QueueStatsResponse,
    Register,
    Send,
)
from wireloom.protocols.signalhub.packed import Unpacker, is_whole
from wireloom.wire import jsontext
from wireloom.wire.errors import MalformedError, TooLargeError, UnknownTypeError, WireError
from wireloom.wire.fields import MAX_NESTING
from wireloom.wire.message import Message, Unknown
from wireloom.wire.wording import worded

spans = places.spans


class _FloatMetError(Exception):
    """A float stands in a free value: the quick way ends."""


class _Foreign(SharedMessage, frozen=True, kw_only=True):
    """The envelope of a message whose type is not listed."""

    metadata: dict[str, Any] | UnsetType = UNSET
    type: str


def stop_at_float(literal: str) -> NoReturn:
    """Ends the quick way: a float may be written longer than it was read."""
    raise _FloatMetError(literal)


UNREADABLE: Final = (msgspec.MsgspecError, _FloatMetError, UnicodeError)
"""What the quick way raises."""

_write: Final = msgspec.json.Encoder().encode
_pack: Final = msgspec.msgpack.Encoder().encode
_quick: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(
    # A rate is a float by declaration, so its type never goes the quick way.
    Union[tuple(cls for cls in HUB_CLASSES if cls is not QueueStatsResponse)],  # noqa: UP007
    float_hook=stop_at_float,
).decode

_FREE_ELSEWHERE: Final = frozenset({Error, Discovered, ActorList})
"""Types with free values in places of their own: they are the hub's to send, and go the exact way
if they have many lists or objects."""

_quick_packed: Final[Callable[[bytes], Any]] = msgspec.msgpack.Decoder(
    Union[  # noqa: UP007
        tuple(cls for cls in HUB_CLASSES if cls not in {*_FREE_ELSEWHERE, QueueStatsResponse})
    ]
).decode

_CARRIERS: Final = frozenset({Send, Broadcast, Publish})
_CARRIED_DEPTH: Final = MAX_NESTING - 3
_SHOWN_DEPTH: Final = MAX_NESTING - 2
_METADATA_DEPTH: Final = MAX_NESTING - 1
"""How deep a free value may be, by where it stands."""

_SIMPLE: Final[frozenset[type]] = frozenset({str, int, bool, type(None)})
_PLAIN: Final[frozenset[type]] = _SIMPLE | {list, dict}
_PACKED: Final[frozenset[type]] = _PLAIN | {float}
_TEXT: Final = frozenset({str})
_SHORT_FLOAT: Final = 0xCA
"""What a float of four bytes begins with in MessagePack."""


LIST: Final = ord("[")
SHALLOW_SIZE: Final = 5 * (MAX_NESTING + 1) + 128
"""Bytes within which a message without lists cannot be nested too deep: a level takes five
of them (`{"":}`), and the fields that every envelope has take more than 128. It saves the
counting of brackets, which would cost small messages more than being written again."""

_CLASSES: Final = frozenset({*HUB_CLASSES, Application})


def decode(raw: bytes, *, lenient: bool = False) -> Message:
    """The message in `raw`, one WebSocket message, JSON or MessagePack by its first byte.

    Args:
        raw: Any bytes.
        lenient: Give an `Unknown` for a `hub:` type that is not listed, instead of refusing
            it.

    Raises:
        WireError: If it is not a Signal Hub message.
    """
    size = len(raw)
    shallow = (size <= SHALLOW_SIZE and LIST not in raw) or is_shallow(raw)
    if shallow or size <= MAX_MESSAGE_SIZE:
        try:
            message: SharedMessage = _quick(raw)
            if len(_write(message)) == size and (shallow or _is_plain(message)):
                return message
        except (*UNREADABLE, RecursionError):
            pass  # the exact way tells what is wrong, if anything is
    return _decode_exactly(raw, lenient=lenient)


def decode_msgpack(raw: bytes, *, lenient: bool = False) -> Message:
    """The message in `raw`, which must be MessagePack: what a binary frame holds.

    Args:
        raw: Any bytes.
        lenient: As for `decode`.

    Raises:
        WireError: If it is not a Signal Hub message in MessagePack.
    """
    _check_size(raw)
    if not places.is_msgpack(raw):
        raise MalformedError("not a MessagePack map", offset=0)
    return _unpacked_quickly(raw) or _message(raw, Unpacker(raw).document(), lenient=lenient)


def _unpacked_quickly(raw: bytes) -> Message | None:
    """The message in a plain frame of a frequent type; None sends all others the exact way.

    As with JSON, equal length proves that no key stood twice: integers, text and maps are
    written in their shortest form, and what could be written longer than it was read (floats of
    four bytes) or is not taken (bytes, extensions, keys that are no text) is not plain.
    """
    try:
        message: SharedMessage = _quick_packed(raw)
        if len(_pack(message)) != len(raw):
            return None
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None
    kinds = _PLAIN if _SHORT_FLOAT in raw else _PACKED
    return message if _is_plain(message, kinds) else None


def _is_plain(message: SharedMessage, kinds: frozenset[type] = _PLAIN) -> bool:
    """Whether all free values of a message are plain, as far as it is known where they stand."""
    kind, metadata = type(message), message.metadata
    if kind in _FREE_ELSEWHERE:
        return False
    if type(metadata) is dict and not _is_plain_value(metadata, _METADATA_DEPTH, kinds):
        return False
    if kind in _CARRIERS:
        return _is_plain_value(message.payload.message.payload, _CARRIED_DEPTH, kinds)
    return kind is not Register or _is_plain_value(message.payload.metadata, _SHOWN_DEPTH, kinds)


def _is_plain_value(value: object, depth: int, taken: frozenset[type]) -> bool:
    """Whether a value has only values of some kinds, and so many levels at most.

    It is looked at level by level, not value by value, which takes a tenth of the time.
    """
    level = [value]
    while True:
        kinds = set(map(type, level))
        if kinds <= _SIMPLE:
            return True
        if not kinds <= taken or (float in kinds and not all(map(_is_plain_float, level))):
            return False
        if depth == 0:
            return kinds.isdisjoint({list, dict})
        depth -= 1
        maps = [one for one in level if type(one) is dict]
        if not set(map(type, chain.from_iterable(maps))) <= _TEXT:
            return False
        lists = chain.from_iterable(one for one in level if type(one) is list)
        level = [*lists, *chain.from_iterable(map(dict.values, maps))]


def _is_plain_float(value: object) -> bool:
    """Whether a value, if it is a float, is one in JSON too and stays one (R25)."""
    return type(value) is not float or (isfinite(value) and not is_whole(value))


def encode(message: Message) -> bytes:
    """`message` as JSON text.

    Raises:
        WireError: If `decode` would refuse it or give another message.
    """
    return _encoded(message, _write)


def encode_msgpack(message: Message) -> bytes:
    """`message` as MessagePack.

    Raises:
        WireError: If `decode` would refuse it or give another message.
    """
    return _encoded(message, _pack)


def is_shallow(raw: bytes) -> bool:
    """Whether a frame is neither too large nor, by the number of its brackets, too deep."""
    return len(raw) <= MAX_MESSAGE_SIZE and raw.count(b"[") + raw.count(b"{") <= MAX_NESTING


def _decode_exactly(raw: bytes, *, lenient: bool) -> Message:
    _check_size(raw)
    if places.is_json(raw):
        return _message(raw, jsontext.load(raw), lenient=lenient)
    if places.is_msgpack(raw):
        return decode_msgpack(raw, lenient=lenient)
    raise MalformedError("neither a JSON object nor a MessagePack map", offset=0)


def _encoded(message: Message, write: Callable[[Message], bytes]) -> bytes:
    if type(message) not in _CLASSES:
        raise UnknownTypeError(f"{type(message).__name__} is not a Signal Hub message")
    try:
        raw = write(message)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise MalformedError(f"a value cannot be encoded: {error}") from None
    if decode(raw) != message:
        raise MalformedError("a free value is not a JSON value")
    return raw


def _message(raw: bytes, document: dict[str, Any], *, lenient: bool) -> Message:
    type_ = document.get("type")
    if not isinstance(type_, str):
        raise MalformedError("type is missing or not text", offset=places.offset_of(raw, "type"))
    listed = TYPES.get(type_)
    if listed is None and type_.startswith(HUB_PREFIX):
        _converted(raw, document, _Foreign)
        if lenient:
            return Unknown(type=type_, raw=raw)
        raise UnknownTypeError(f"{type_!r:.60} is not listed", offset=places.offset_of(raw, "type"))
    return _converted(raw, document, listed or Application)


def _converted(raw: bytes, document: dict[str, Any], cls: type[Message]) -> Message:
    try:
        message = msgspec.convert(document, cls)
        _write(message)  # text that is no Unicode passes the conversion, and fails here
    except msgspec.ValidationError as error:
        raise _refusal(raw, cls, str(error)) from None
    except UnicodeError as error:
        raise MalformedError(f"not Unicode: {error}") from None
    return message


def _refusal(raw: bytes, cls: type[Message], text: str) -> WireError:
    """What msgspec says, in words, with the place in the frame."""
    detail, mark, path = text.rpartition(" - at `$")
    if not mark:
        return MalformedError(f"{text:.200}", offset=0)
    name = path.removesuffix("`").removeprefix(".")
    what = worded(cls, detail, name)
    return MalformedError(f"{name:.60}: {what:.200}", offset=places.offset_of(raw, name))


def _check_size(raw: bytes) -> None:
    if len(raw) > MAX_MESSAGE_SIZE:
        raise TooLargeError(f"{len(raw)} bytes, at most {MAX_MESSAGE_SIZE} are taken")
