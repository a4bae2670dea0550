"""Messages as plain JSON values and back: the `fields` of `wireloom decode` and `encode`.

Bytes are lower-case hex, enums the specification's name (a text enum's value, else the
member's name), flags lists of lower-case names, fields snake_case. In values of no declared
type (an application's payload, a field that this version does not know) bytes are
`{"$hex": "…"}`, so that they come back as bytes, and an object that happens to look like
that is wrapped: `{"$map": {"$hex": "…"}}`.
"""

import types
from collections.abc import Mapping
from enum import Enum, Flag
from functools import cache, reduce
from operator import or_
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from wireloom.wire.errors import MalformedError
from wireloom.wire.message import Message

M = TypeVar("M", bound=Message)

_HEX = "$hex"
_MAP = "$map"


def to_plain(message: Message) -> dict[str, Any]:
    """The message's fields, and what derives from them, as JSON values."""
    shown: dict[str, Any] = {}
    hints = _hints(type(message))
    for name in message.__struct_fields__:
        value = getattr(message, name)
        if value is not msgspec.UNSET:
            shown[name.rstrip("_")] = plain_value(value, free=hints[name] in _FREE)
    for name in message.derived:
        shown[name] = plain_value(getattr(message, name), free=False)
    return shown


def from_plain(cls: type[M], plain: object, *, at: str = "fields") -> M:
    """The message that `to_plain` showed.

    Limits are not checked here: encoding does that. Values that are messages already are
    taken as they are.

    Raises:
        MalformedError: If a field is missing, unknown, of a wrong type, or contradicts
            what derives from the others.
    """
    given = dict(_mapping(plain, at))
    hints = _hints(cls)
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(cls):
        shown = field.name.rstrip("_")
        if shown in given:
            values[field.name] = _built(hints[field.name], given.pop(shown), f"{at}.{shown}")
        elif field.required:
            raise MalformedError(f"{at}.{shown} is missing")
    message = cls(**values)
    for name in cls.derived:
        if name in given and given.pop(name) != plain_value(getattr(message, name), free=False):
            raise MalformedError(f"{at}.{name} contradicts the other fields")
    if given:
        raise MalformedError(f"{at}.{min(given)} is not a field of {cls.__name__}")
    return message


def plain_value(value: Any, *, free: bool) -> Any:
    """One value as JSON values.

    Args:
        value: Of a field, or part of such a value.
        free: Whether it is of no declared type.
    """
    if type(value) in _AS_THEY_ARE:
        return value
    shown: Any = value
    match value:
        case Message():
            shown = to_plain(value)
        case bytes():
            shown = {_HEX: value.hex()} if free else value.hex()
        case Flag():
            shown = [str(member.name).lower() for member in value]
        case Enum():
            shown = value.value if isinstance(value, str) else value.name
        case tuple() | list():
            shown = [plain_value(item, free=free) for item in value]
        case Mapping():
            shown = {key: plain_value(item, free=True) for key, item in value.items()}
            if free and value.keys() in ({_HEX}, {_MAP}):
                shown = {_MAP: shown}
    return shown


def _built(hint: Any, value: Any, at: str) -> Any:
    if hint in _FREE or isinstance(value, Message):
        return _freed(value)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _built_option(hint, value, at)
    if origin is tuple:
        (item,) = {arg for arg in get_args(hint) if arg is not ...}
        return tuple(_built(item, one, f"{at}[{i}]") for i, one in enumerate(_items(value, at)))
    if origin is Literal:
        return _built_literal(hint, value, at)
    if origin is dict:
        return {
            key: _built(get_args(hint)[1], one, f"{at}.{key}")
            for key, one in _mapping(value, at).items()
        }
    return _built_scalar(hint, value, at)


def _built_option(hint: Any, value: Any, at: str) -> Any:
    if value is None:
        return None
    inner = [arg for arg in get_args(hint) if arg not in (types.NoneType, msgspec.UnsetType)]
    if not inner:
        raise MalformedError(f"{at} must be null")
    return _built(inner[0], value, at)


def _built_literal(hint: Any, value: Any, at: str) -> Any:
    if not any(value == one and type(value) is type(one) for one in get_args(hint)):
        raise MalformedError(_not_one_of(at, value, [repr(one) for one in get_args(hint)]))
    return value


def _built_scalar(hint: Any, value: Any, at: str) -> Any:
    if issubclass(hint, Message):
        return from_plain(hint, value, at=at)
    if issubclass(hint, Flag):
        value = _items(value, at)
    try:
        if hint is bytes:
            return bytes.fromhex(value)
        if issubclass(hint, Flag):
            return hint(reduce(or_, [hint[str(name).upper()].value for name in value], 0))
        if issubclass(hint, Enum):
            return hint(value) if issubclass(hint, str) else hint[value]
    except (KeyError, TypeError, ValueError):
        raise MalformedError(_not_one_of(at, value, _typed(hint))) from None
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise MalformedError(f"{at} must be {hint.__name__}, not {type(value).__name__}")
    return value


def _typed(kind: Any) -> list[str]:
    """What a person types for each value of a kind; of bytes there are too many to list."""
    if kind is bytes:
        return []
    if issubclass(kind, Flag):
        return [str(member.name).lower() for member in kind]
    return [str(plain_value(member, free=False)) for member in kind]


def _not_one_of(at: str, value: Any, choices: list[str]) -> str:
    what = f"choose one of {', '.join(choices)}" if choices else "bytes are written in hex"
    return f"{at} cannot be {value!r:.60}: {what}"


def _freed(value: Any) -> Any:
    match value:
        case dict() if value.keys() == {_HEX}:
            return _built_scalar(bytes, value[_HEX], _HEX)
        case dict() if value.keys() == {_MAP}:
            return {key: _freed(item) for key, item in _mapping(value[_MAP], _MAP).items()}
        case dict():
            return {key: _freed(item) for key, item in value.items()}
        case list():
            return [_freed(item) for item in value]
    return value


def _items(value: object, at: str) -> list[Any]:
    if not isinstance(value, list):
        raise MalformedError(f"{at} must be a list")
    return value


def _mapping(value: object, at: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MalformedError(f"{at} must be an object")
    return value


@cache
def _hints(cls: type[Message]) -> dict[str, Any]:
    return get_type_hints(cls)


_AS_THEY_ARE = frozenset({bool, float, int, str, types.NoneType})
_FREE = (Any, object)
