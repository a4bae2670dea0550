"""What a field of a frame means, in the words of the class that declares it."""

from collections.abc import Iterable
from typing import Any

from wireloom.wire.descriptions import classes_of, describe
from wireloom.wire.message import Message


def meaning_in(message: Message, name: str) -> str:
    """What the field `name`, such as `header.ttl` or `hops.0.rssi`, means in `message`.

    Nothing where no class declares it: framing, and what stands in maps.
    """
    found: Any = message
    words = ""
    for step in name.split("."):
        words = ""
        match found:
            case Message():
                words = _declared(type(found)).get(step, "")
                found = getattr(found, step, getattr(found, f"{step}_", None))
            case tuple() | list() if step.isdigit() and int(step) < len(found):
                found = found[int(step)]
            case _:
                return ""
    return words


def meaning_among(classes: Iterable[type[Message]], name: str) -> str:
    """The same for a frame that is no message: nothing, unless all that fits says one thing."""
    first, _, rest = name.partition(".")
    if first.isdigit():
        return meaning_among(classes, rest)
    found: set[str] = set()
    for cls in classes:
        if rest:
            found.add(meaning_among(_within(cls, first), rest))
        else:
            found.add(_declared(cls).get(first, ""))
    found.discard("")
    return found.pop() if len(found) == 1 else ""


def _declared(cls: type[Message]) -> dict[str, str]:
    return {field.name: field.meaning for field in describe(cls)}


def _within(cls: type[Message], name: str) -> list[type[Message]]:
    """The classes that the field `name` may be of, and those that derive from them."""
    named = classes_of(cls, name)
    return [one for base in named for one in (base, *base.__subclasses__())]
