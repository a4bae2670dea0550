"""What msgspec refuses, in words for a person: no regular expression, and the choices listed.

A type whose text has a form says in `extra["looks"]` of its `Meta` what that form looks like.
"""

import re
import types
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec

_STEP: Final = re.compile(r"\.(?P<name>[^.\[\]]+)|\[[^\]]*\]")
_PATTERN: Final = "matching regex"
_ENUM: Final = "Invalid enum value"


def worded(cls: type[msgspec.Struct], what: str, path: str) -> str:
    """What is wrong with a value, without anything that only a program reads.

    Args:
        cls: The class that the document should be of.
        what: The words of msgspec.
        path: Where the value stands, as in `payload.actors[0].address`.
    """
    if _PATTERN not in what and not what.startswith(_ENUM):
        return what
    found = list(_types_at(cls, path))
    if _PATTERN in what:
        looks = [str(extra["looks"]) for extra in _extras(found) if "looks" in extra]
        return looks[0] if looks else "the text is not of the right form"
    choices = [choice for hint in found for choice in _choices(hint)]
    given = what.removeprefix(_ENUM).strip()
    return f"{given} is not one of: {', '.join(choices)}" if choices else what


def choices_of(kind: type[Enum]) -> list[str]:
    """The values of an enum as a person types them: words as they are, numbers with their names."""
    return [
        member.value if isinstance(member, str) else f"{member.value} ({member.name})"
        for member in kind
    ]


def _types_at(cls: type[msgspec.Struct], path: str) -> Iterator[Any]:
    """The types, without unions, that the value at `path` may be of."""
    kinds: list[Any] = [cls]
    for step in _STEP.finditer(path if path.startswith(("[", ".")) else f".{path}"):
        name = step["name"]
        kinds = [inner for kind in kinds for inner in _inner(kind, name)]
    yield from (option for kind in kinds for option in _options(kind))


def _inner(hint: Any, name: str | None) -> list[Any]:
    found: list[Any] = []
    for option in _options(hint):
        bare = get_args(option)[0] if get_origin(option) is Annotated else option
        if name is None:
            found += [arg for arg in get_args(bare) if arg is not ...][-1:]
        elif isinstance(bare, type) and issubclass(bare, msgspec.Struct):
            found += [field for key, field in _fields(bare) if key == name]
    return found


@cache
def _fields(cls: type[msgspec.Struct]) -> list[tuple[str, Any]]:
    """The types of fields by their names on the wire; to ask for them takes long."""
    return [(field.encode_name, field.type) for field in msgspec.structs.fields(cls)]


def _options(hint: Any) -> list[Any]:
    if get_origin(hint) in (Union, types.UnionType):
        return [one for arg in get_args(hint) for one in _options(arg)]
    return [hint]


def _extras(hints: list[Any]) -> list[dict[str, Any]]:
    return [
        meta.extra
        for hint in hints
        if get_origin(hint) is Annotated
        for meta in get_args(hint)[1:]
        if isinstance(meta, msgspec.Meta) and meta.extra
    ]


def _choices(hint: Any) -> list[str]:
    if get_origin(hint) is Annotated:
        return _choices(get_args(hint)[0])
    if get_origin(hint) is Literal:
        return [str(value) for value in get_args(hint)]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return choices_of(hint)
    return []
