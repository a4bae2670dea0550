"""CBOR maps and the classes they stand for.

Keys and types come from the class: `Shape` is what is derived from it once. A byte field
may come as a list of signed integers, as Kotlin writes it, a null counts as absent (R20),
and keys that the class does not declare are kept in `extra`.
"""

import re
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from wireloom.protocols.dtn import cbor
from wireloom.protocols.dtn.constants import MSG_TYPE_KEY
from wireloom.protocols.dtn.items import places
from wireloom.protocols.dtn.parts import DtnMap
from wireloom.wire.errors import MalformedError
from wireloom.wire.wording import worded

M = TypeVar("M", bound=DtnMap)

_EXTRA: Final = "extra"
_BYTE_TYPES: Final = (bytes,)
_LOCATED: Final = re.compile(r"(?P<what>.*) - at `\$\.?(?P<path>.*)`", re.DOTALL)


class Shape(NamedTuple):
    """What the declaration of a class says about its map."""

    names: dict[str, str]
    """The fields by their keys."""

    known: frozenset[str]
    """The keys with a declared meaning."""

    simple: frozenset[str]
    """Those whose values need no preparation."""

    byte_keys: frozenset[str]
    """Those whose value is bytes."""

    list_keys: dict[str, type[DtnMap] | None]
    """Those whose value is a list: of maps of a class, or of bytes."""


@cache
def shape(cls: type[DtnMap]) -> Shape:
    """The shape of `cls`."""
    hints = get_type_hints(cls)
    names = {f.encode_name: f.name for f in msgspec.structs.fields(cls) if f.name != _EXTRA}
    items = {key: _item_type(hints[name]) for key, name in names.items()}
    lists = {key: item for key, item in items.items() if item is not None}
    known = frozenset(names) if cls.number is None else frozenset(names) | {MSG_TYPE_KEY}
    return Shape(
        names=names,
        known=known,
        simple=known - {key for key, item in lists.items() if item is not bytes},
        byte_keys=frozenset(key for key, name in names.items() if _is_bytes(hints[name])),
        list_keys={key: None if item is bytes else item for key, item in lists.items()},
    )


def take_map(cls: type[M], raw: bytes) -> M:
    """The map of class `cls` in `raw`.

    Raises:
        MalformedError: If it is not one.
    """
    document = cbor.load_quickly(raw)
    if document is not None and document.keys() <= shape(cls).simple:
        try:
            return msgspec.convert(document, cls, builtin_types=_BYTE_TYPES)
        except msgspec.ValidationError:
            pass  # it may still be of a form that needs preparation
    return build(cls, cbor.load(raw), raw)


def build(cls: type[M], document: dict[str, Any], raw: bytes) -> M:
    """The map of class `cls` that was loaded from `raw` as `document`.

    Raises:
        MalformedError: If a field is missing, of a wrong type or out of range.
    """
    prepared = _prepared(cls, document)
    try:
        return msgspec.convert(prepared, cls, builtin_types=_BYTE_TYPES)
    except msgspec.ValidationError as error:
        raise _refusal(cls, str(error), raw) from None


def put_map(message: DtnMap) -> bytes:
    """The mirror of `take_map`: deterministic CBOR.

    Raises:
        MalformedError: If the map cannot be written.
    """
    return cbor.dump(flat(message))


def flat(message: DtnMap) -> dict[str, Any]:
    """The map of `message` by its keys; fields that are absent are left out.

    Raises:
        MalformedError: If an extra key is one of the declared ones.
    """
    known = shape(type(message))
    document: dict[str, Any] = {}
    for key, name in known.names.items():
        value = getattr(message, name)
        if value is not None:
            document[key] = [_flat_item(one) for one in value] if key in known.list_keys else value
    if message.number is not None:
        document[MSG_TYPE_KEY] = int(message.number)
    extra: dict[str, Any] = getattr(message, _EXTRA)
    for key in extra:
        if key in known.known:
            raise MalformedError(f"extra key {key!r:.60} is a declared one")
    document.update(extra)
    return document


def _flat_item(item: Any) -> Any:
    return flat(item) if isinstance(item, DtnMap) else item


def _prepared(cls: type[DtnMap], document: dict[str, Any]) -> dict[str, Any]:
    known = shape(cls)
    prepared: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in document.items():
        if key not in known.known:
            extra[key] = value
        elif key in known.byte_keys:
            prepared[key] = _as_bytes(value)
        elif key in known.list_keys and isinstance(value, list):
            part = known.list_keys[key]
            prepared[key] = [_prepared_item(part, item) for item in value]
        elif value is not None:
            prepared[key] = value
    prepared[_EXTRA] = extra
    return prepared


def _prepared_item(part: type[DtnMap] | None, item: Any) -> Any:
    if part is None:
        return _as_bytes(item)
    return _prepared(part, item) if isinstance(item, dict) else item


def _as_bytes(value: Any) -> Any:
    """Bytes from a list of bytes, signed or not; anything else as it is."""
    if isinstance(value, list) and all(type(one) is int and -128 <= one <= 255 for one in value):
        return bytes(one & 0xFF for one in value)
    return value


def _refusal(cls: type[DtnMap], error: str, raw: bytes) -> MalformedError:
    """What msgspec says, in words, with the field in front and the place where it lies."""
    located = _LOCATED.fullmatch(error)
    if located is None:
        return MalformedError(error)
    key = re.split(r"[.\[]", located["path"])[0]
    offset = next((place.offset for place in places(raw) if place.key == key), None)
    what = worded(cls, located["what"], located["path"])
    return MalformedError(f"{located['path'] or 'the map'}: {what:.200}", offset=offset)


def _item_type(hint: Any) -> Any:
    """What a tuple field holds: `bytes` or a class; None for other fields."""
    for option in (hint, *get_args(hint)):
        if get_origin(option) is tuple:
            item = get_args(option)[0]
            return get_args(item)[0] if get_origin(item) is Annotated else item
    return None


def _is_bytes(hint: Any) -> bool:
    return hint is bytes or bytes in get_args(hint)
