"""What a message class declares, for people: name, type, size and meaning of every field.

The meaning is the string that stands under the field in the source.
"""

import ast
import inspect
import textwrap
import types
from enum import Enum, Flag
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from wireloom.wire.message import Message

T = TypeVar("T")


class FieldDescription(NamedTuple):
    """One field of a message class, in words."""

    name: str
    type: str
    size: str
    meaning: str


def describe(cls: type[Message]) -> list[FieldDescription]:
    """The fields of `cls` in wire order, what derives from them last."""
    hints = get_type_hints(cls, include_extras=True)
    meanings = _meanings(cls)
    fields = [
        FieldDescription(
            field.name.rstrip("_"),
            type_text(hints[field.name]),
            _size(hints[field.name]),
            meanings.get(field.name, ""),
        )
        for field in msgspec.structs.fields(cls)
    ]
    derived = [
        FieldDescription(name, "derived", "", (inspect.getdoc(getattr(cls, name)) or "").strip())
        for name in cls.derived
    ]
    return fields + derived


def parts(cls: type[Message]) -> list[type[Message]]:
    """The message classes that the fields of `cls` are made of, in order, each once."""
    found: dict[type[Message], None] = {}
    for hint in get_type_hints(cls, include_extras=True).values():
        for part in _kinds(hint, Message):
            if part not in found and part is not cls:
                found[part] = None
                found.update(dict.fromkeys(parts(part)))
    return list(found)


def classes_of(cls: type[Message], name: str) -> list[type[Message]]:
    """The message classes that the field `name` of `cls` may be of, by itself or in a list."""
    hints = get_type_hints(cls, include_extras=True)
    return _kinds(hints.get(name, hints.get(f"{name}_")), Message)


def enums(cls: type[Message]) -> list[type[Enum]]:
    """The enums that the fields of `cls` are of, in order, each once."""
    hints = get_type_hints(cls, include_extras=True).values()
    return list(dict.fromkeys(kind for hint in hints for kind in _kinds(hint, Enum)))


def type_text(hint: Any) -> str:
    """A type as the docs print it."""
    origin = get_origin(hint)
    if origin is Annotated:
        return type_text(get_args(hint)[0])
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in get_args(hint))
    if origin in (Union, types.UnionType):
        texts = [type_text(arg) for arg in get_args(hint) if arg not in _ABSENT]
        optional = len(texts) < len(get_args(hint))
        return " or ".join(texts) + (", optional" if optional else "")
    if origin in (tuple, list):
        return f"list of {type_text(get_args(hint)[0])}"
    if origin is dict:
        return "map"
    return _NAMES.get(hint) or _class_text(hint)


def _class_text(hint: Any) -> str:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return f"{'any' if issubclass(hint, Flag) else 'one'} of {hint.__name__}"
    return str(hint.__name__)


def _size(hint: Any) -> str:
    if get_origin(hint) is Annotated:
        for meta in get_args(hint)[1:]:
            if isinstance(meta, msgspec.Meta) and meta.extra:
                return str(meta.extra.get("size", ""))
    if get_origin(hint) in (Union, types.UnionType):
        return next((size for arg in get_args(hint) if (size := _size(arg))), "")
    return ""


def _kinds(hint: Any, base: type[T]) -> list[type[T]]:
    """The classes below `base` that a type is made of."""
    if isinstance(hint, type) and issubclass(hint, base):
        return [hint]
    return [kind for arg in get_args(hint) for kind in _kinds(arg, base)]


@cache
def _meanings(cls: type[Message]) -> dict[str, str]:
    """The strings under the fields of a class and of the classes it inherits from."""
    meanings: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if issubclass(base, Message) and base is not Message:
            meanings |= _own_meanings(base)
    return meanings


def _own_meanings(cls: type) -> dict[str, str]:
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    if not isinstance(node, ast.ClassDef):
        return {}
    meanings = {}
    for field, text in zip(node.body, node.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(meaning))),
            ):
                meanings[name] = " ".join(meaning.split())
    return meanings


_ABSENT = (types.NoneType, msgspec.UnsetType)

_NAMES: dict[Any, str] = {
    Any: "any",
    object: "any",
    bool: "true or false",
    bytes: "bytes",
    dict: "map",
    float: "number",
    int: "integer",
    str: "text",
}
