"""What a message class says of itself."""

from enum import IntEnum, IntFlag
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from wireloom.wire.descriptions import (
    FieldDescription,
    classes_of,
    describe,
    enums,
    parts,
    type_text,
)
from wireloom.wire.fields import U8, Bytes32
from wireloom.wire.message import Message


class Kind(IntEnum):
    A = 1


class Leaf(Message, frozen=True, kw_only=True):
    n: U8
    """A number."""


class Bits(IntFlag):
    ON = 1


class Painted(Message, frozen=True, kw_only=True):
    kind: Kind | None
    kinds: tuple[Kind, ...]
    bits: Bits


class Branch(Message, frozen=True, kw_only=True):
    leaf: Leaf
    """One leaf."""


class Base(Message, frozen=True, kw_only=True):
    from_: str
    """Who sent
    it."""


class Tree(Base, frozen=True, kw_only=True):
    derived: ClassVar[tuple[str, ...]] = ("count",)

    key: Bytes32 | None = None
    """A key."""

    branches: tuple[Branch, ...] = ()
    bare: int = 0

    @property
    def count(self) -> int:
        """How many branches."""
        return len(self.branches)


def test_fields_come_in_order_with_their_meaning() -> None:
    assert describe(Tree) == [
        FieldDescription("from", "text", "", "Who sent it."),
        FieldDescription("key", "bytes, optional", "32 B", "A key."),
        FieldDescription("branches", "list of Branch", "", ""),
        FieldDescription("bare", "integer", "", ""),
        FieldDescription("count", "derived", "", "How many branches."),
    ]


def test_parts_are_found_at_any_depth() -> None:
    assert parts(Tree) == [Branch, Leaf]
    assert parts(Leaf) == []


def test_the_classes_of_one_field() -> None:
    assert classes_of(Tree, "branches") == [Branch]
    assert classes_of(Tree, "key") == classes_of(Tree, "from") == classes_of(Tree, "none") == []


def test_the_enums_of_a_class() -> None:
    assert enums(Painted) == [Kind, Bits]
    assert enums(Tree) == []


def test_types_in_words() -> None:
    assert type_text(Annotated[int, msgspec.Meta(ge=0)]) == "integer"
    assert type_text(Literal["tell", "ask"]) == "`tell` or `ask`"
    assert type_text(Leaf | Branch) == "Leaf or Branch"
    assert type_text(str | None | msgspec.UnsetType) == "text, optional"
    assert type_text(dict[str, Any]) == "map"
    assert type_text(Kind) == "one of Kind"
    assert type_text(Bits) == "any of Bits"
    assert type_text(list[Any]) == "list of any"
