"""Messages to Arrow columns, field by field: the same as by their plain form."""

import json
from enum import Enum, IntEnum, IntFlag, StrEnum
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, UnsetType

from support.strategies import JSON_VALUES, messages_of
from wireloom.wire.columns import decode_each
from wireloom.wire.errors import MalformedError
from wireloom.wire.extract import RowColumn, decode_all
from wireloom.wire.fields import U8, U64, Bytes4
from wireloom.wire.message import Message, Summary


class Colour(IntEnum):
    RED = 1
    BLUE = 2


class Word(StrEnum):
    YES = "yes"


class Shape(Enum):
    ROUND = 1


class Bits(IntFlag):
    ONE = 1
    TWO = 2


class Point(Message, frozen=True, kw_only=True):
    x: Annotated[int, Meta(ge=0, le=9)]
    label: str | UnsetType = UNSET


class Named(Message, frozen=True, kw_only=True):
    label: str
    mixed: str


class Numbered(Message, frozen=True, kw_only=True):
    mixed: Annotated[int, Meta(ge=0, le=9)]
    inner: Point | None = None


class Nothing(Message, frozen=True, kw_only=True):
    """Has no fields at all."""


PARTS: tuple[type[Message], ...] = (Named, Numbered, Nothing)


class Everything(Message, frozen=True, kw_only=True):
    derived: ClassVar[tuple[str, ...]] = ("raw_size",)

    raw: bytes
    key: Bytes4 | None = None
    from_: str = ""
    flag: bool | UnsetType = UNSET
    ratio: float | None | UnsetType = None
    number: Annotated[int, Meta(ge=-9, le=9)] | None = None
    wide: U64 | None = None
    fixed: Literal["a", "b"] = "a"
    colour: Colour | None = None
    word: Word | UnsetType = UNSET
    shape: Shape | None = None
    bits: Bits | None = None
    keys: tuple[bytes, ...] | None = None
    words: tuple[Word, ...] = ()
    points: tuple[Point, ...] | UnsetType = UNSET
    grid: tuple[tuple[U8, ...], ...] = ()
    point: Point | UnsetType = UNSET
    free: Any = None
    extra: dict[str, Any] = {}
    colours: dict[str, Colour] | None = None
    either: str | bytes = ""
    again: "Everything | None" = None
    part: Message | None = None

    @property
    def raw_size(self) -> int:
        """How long it is."""
        return len(self.raw)


def view(message: Everything) -> Message:
    return message


COLUMN: RowColumn[Everything] = RowColumn("everything", Everything, view, parts={"part": PARTS})

FREE = JSON_VALUES | st.sampled_from(
    [b"\xff", [b""], {"$hex": "00"}, {"a": {"$map": 1}}, "$", "é\u2028", {"deep": [{"b": b"1"}]}]
)
LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "free": FREE,
    "extra": st.dictionaries(st.text(max_size=3) | st.just("$hex"), FREE, max_size=2),
    "again": st.none(),
    "part": st.none() | st.one_of([messages_of(cls) for cls in PARTS]),
}
EVERYTHING = messages_of(Everything, **LEAVES)
NESTED = messages_of(Everything, **LEAVES | {"again": EVERYTHING})


@given(messages=st.lists(EVERYTHING | NESTED, max_size=4))
def test_fields_are_extracted_as_their_plain_form_says(messages: list[Everything]) -> None:
    extracted = COLUMN.extract(messages)
    extracted.validate(full=True)
    assert extracted.type == COLUMN.type
    assert extracted.equals(COLUMN.values(messages))


def test_values_stand_in_their_columns() -> None:
    message = Everything(
        raw=b"\x0a",
        from_="me",
        wide=2**64 - 1,
        colour=Colour.BLUE,
        word=Word.YES,
        bits=Bits.ONE | Bits.TWO,
        keys=(b"\x01", b""),
        point=Point(x=3),
        extra={"b": 1, "a": b"\x02"},
        part=Named(label="n", mixed="m"),
    )
    (shown,) = COLUMN.extract([message]).to_pylist()
    told = {name: value for name, value in shown.items() if value is not None}
    assert told == {
        "raw": "0a",
        "from": "me",
        "wide": 2**64 - 1,
        "fixed": "a",
        "colour": "BLUE",
        "word": "yes",
        "bits": ["one", "two"],
        "keys": ["01", ""],
        "words": [],
        "grid": [],
        "point": {"x": 3, "label": None},
        "extra": '{"a": {"$hex": "02"}, "b": 1}',
        "either": "",
        "part": {"label": "n", "mixed": '"m"', "inner": None},
        "raw_size": 1,
    }


def test_messages_of_many_classes_keep_their_order() -> None:
    parts = [
        Numbered(mixed=1),
        None,
        Named(label="a", mixed="b"),
        Nothing(),
        Numbered(mixed=2, inner=Point(x=1, label="p")),
        Named(label="c", mixed="d"),
    ]
    shown = COLUMN.extract([Everything(raw=b"", part=part) for part in parts]).to_pylist()
    empty = {"label": None, "mixed": None, "inner": None}
    assert [one["part"] for one in shown] == [
        empty | {"mixed": "1"},
        None,
        empty | {"label": "a", "mixed": '"b"'},
        empty,
        empty | {"mixed": "2", "inner": {"x": 1, "label": "p"}},
        empty | {"label": "c", "mixed": '"d"'},
    ]


def take(raw: bytes) -> Everything:
    if raw.startswith(b"!"):
        raise MalformedError(f"{len(raw)} bytes", offset=len(raw) if raw != b"!" else None)
    return Everything(raw=raw)


def summary(message: Everything, raw: bytes) -> Summary:
    many = ("a", "b") if raw == b"many" else raw.hex()
    return Summary(type=raw.hex(), destination=many, created_ms=len(raw) << 60, hops=len(raw))


@pytest.mark.parametrize(
    "raws",
    [
        [],
        [b"!"],
        [b"x"],
        [b"x", b"many", b"8 bytes."],
        [b"!", b"x", b"!!", b"many", b"!"],
    ],
)
def test_refusals_stand_among_the_rows_in_their_places(raws: list[bytes]) -> None:
    batch = decode_all(COLUMN, take, summary, raws)
    batch.validate(full=True)
    assert batch.equals(decode_each(COLUMN, take, summary, raws))
    refused = [raw.startswith(b"!") for raw in raws]
    assert batch["type"].is_null().to_pylist() == refused
    assert batch["everything"].is_null().to_pylist() == refused
    assert [reason == "malformed" for reason in batch["reason"].to_pylist()] == refused


def test_a_row_may_be_another_view_of_the_message() -> None:
    column: RowColumn[Everything] = RowColumn(
        "points", Point, lambda message: Point(x=message.raw_size), parts={}
    )
    messages = [Everything(raw=b"abc")]
    assert column.extract(messages).to_pylist() == [{"x": 3, "label": None}]
    assert column.values([None, *messages]).to_pylist() == [None, {"x": 3, "label": None}]


def test_json_of_free_values_is_sorted_and_not_escaped() -> None:
    (shown,) = COLUMN.extract([Everything(raw=b"", free={"z": "é", "a": [1.5, None]})]).to_pylist()
    assert shown["free"] == '{"a": [1.5, null], "z": "é"}'
    assert json.loads(shown["free"]) == {"z": "é", "a": [1.5, None]}


def test_types_are_those_of_the_column() -> None:
    assert COLUMN.schema.field("everything").type == COLUMN.type
    assert COLUMN.type.field("part").type.field("mixed").type == pa.string()
