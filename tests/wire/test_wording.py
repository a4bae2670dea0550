"""What msgspec refuses, in words for a person."""

from enum import IntEnum, StrEnum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import UNSET, Meta, UnsetType

from support.cases import ALL, Case
from wireloom.wire.descriptions import parts
from wireloom.wire.wording import choices_of, worded

Name = Annotated[str, Meta(pattern="^[a-z]+$", extra={"looks": "a name looks like bob"})]
Odd = Annotated[str, Meta(pattern="^x$")]


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Leaf(msgspec.Struct, rename="camel"):
    my_name: Name | None | UnsetType = UNSET
    level: Level = Level.LOW


class Tree(msgspec.Struct):
    name: Name = "bob"
    odd: Odd = "x"
    leaves: tuple[Leaf, ...] = ()
    by_name: dict[str, Leaf] = {}
    colour: Colour | None = None
    way: Literal["tell", "ask"] = "tell"
    count: Annotated[int, Meta(ge=0)] = 0


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"name": "Bob"}, "a name looks like bob"),
        ({"odd": "y"}, "the text is not of the right form"),
        ({"leaves": [{}, {"myName": "B"}]}, "a name looks like bob"),
        ({"by_name": {"k": {"myName": "B"}}}, "a name looks like bob"),
        ({"colour": "green"}, "'green' is not one of: red, blue"),
        ({"leaves": [{"level": 3}]}, "3 is not one of: 1 (LOW), 2 (HIGH)"),
        ({"way": "shout"}, "'shout' is not one of: tell, ask"),
        ({"count": -1}, "Expected `int` >= 0"),
        ({"name": 1}, "Expected `str`, got `int`"),
    ],
)
def test_a_refusal_in_words(document: dict[str, Any], words: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(document, Tree)
    what, _, path = str(caught.value).partition(" - at `$")
    assert worded(Tree, what, path.rstrip("`")) == words
    assert worded(Tree, what, path.rstrip("`").removeprefix(".")) == words


def test_a_path_that_leads_nowhere_is_no_fault() -> None:
    assert worded(Tree, "Invalid enum value 'x'", "no.way[0]") == "Invalid enum value 'x'"
    assert worded(Tree, "Expected `str` matching regex 'x'", "") != ""


def test_choices_are_what_a_person_types() -> None:
    assert choices_of(Colour) == ["red", "blue"]
    assert choices_of(Level) == ["1 (LOW)", "2 (HIGH)"]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_every_pattern_of_every_message_has_words(case: Case) -> None:
    classes = [*case.protocol.messages.TYPES.values(), *case.protocol.messages.PARTS]
    for cls in {part for one in classes for part in (one, *parts(one))}:
        for field in msgspec.structs.fields(cls):
            for meta in metas(field.type):
                assert meta.pattern is None or "looks" in (meta.extra or {}), (cls, field.name)


def metas(hint: Any) -> list[Meta]:
    found = [meta for meta in getattr(hint, "__metadata__", ()) if isinstance(meta, Meta)]
    args = getattr(hint, "__args__", ())
    return found + [meta for arg in args for meta in metas(arg)]
