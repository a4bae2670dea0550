"""Column types that derive from message classes, and messages as their values."""

from decimal import Decimal
from enum import Enum, IntEnum, IntFlag
from typing import Any, ClassVar, Literal

import pyarrow as pa
import pytest
from msgspec import UNSET, UnsetType

from wireloom.wire.columns import (
    DECIMAL,
    DECODED,
    CodecColumns,
    MessageColumn,
    decode_distinct,
    decode_each,
    fits_int64,
)
from wireloom.wire.errors import MalformedError
from wireloom.wire.fields import U16, U64, Bytes4
from wireloom.wire.message import Cast, Message, Summary


class Colour(Enum):
    """An enum of text."""

    RED = "red"


class Level(IntEnum):
    """An enum of numbers."""

    LOW = 1


class Bits(IntFlag):
    """Flags."""

    LEFT = 1
    RIGHT = 2


class Inner(Message, frozen=True, kw_only=True):
    """A message in a message."""

    number: int = 1
    """A number."""


class Other(Message, frozen=True, kw_only=True):
    """Another one that may stand in the same place."""

    text: str = "t"
    """A text."""


class Empty(Message, frozen=True, kw_only=True):
    """A message without fields."""


class Everything(Message, frozen=True, kw_only=True):
    """A field of every type."""

    constant: ClassVar[Level] = Level.LOW
    derived: ClassVar[tuple[str, ...]] = ("size", "constant")

    raw: Bytes4 = b"\x01\x02\x03\x04"
    short: U16 = 2
    long: U64 = (1 << 64) - 1
    ratio: float = 0.5
    yes: bool = True
    word: Literal["w"] = "w"
    colour: Colour = Colour.RED
    level: Level = Level.LOW
    bits: Bits = Bits.LEFT | Bits.RIGHT
    items: tuple[U16, ...] = (1, 2)
    inners: tuple[Inner, ...] = (Inner(),)
    inner: Inner | None = None
    unset: str | UnsetType = UNSET
    mixed: int | str = 1
    nothing: None = None
    free: Any = None
    table: dict[str, int] = {}
    empty: Empty = Empty()
    message: Message = Inner()
    selves: tuple["Everything", ...] = ()
    type_: str = "trailing underscore"

    @property
    def size(self) -> int:
        """Derives from the fields."""
        return 4


class Renamed(Message, frozen=True, kw_only=True):
    """Fields of the same names, of which some have other types."""

    short: U16 = 3
    ratio: str = "half"
    inner: Other | None = None


COLUMN = MessageColumn("all", (Everything, Renamed), parts={"message": (Inner, Other)})


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("raw", pa.string()),
        ("short", pa.int64()),
        ("long", DECIMAL),
        ("yes", pa.bool_()),
        ("word", pa.string()),
        ("colour", pa.string()),
        ("level", pa.string()),
        ("bits", pa.list_(pa.string())),
        ("items", pa.list_(pa.int64())),
        ("inners", pa.list_(pa.struct([("number", pa.int64())]))),
        ("inner", pa.struct([("number", pa.int64()), ("text", pa.string())])),
        ("unset", pa.string()),
        ("mixed", pa.string()),
        ("nothing", pa.string()),
        ("free", pa.string()),
        ("table", pa.string()),
        ("empty", pa.string()),
        ("message", pa.struct([("number", pa.int64()), ("text", pa.string())])),
        ("selves", pa.string()),
        ("type", pa.string()),
        ("size", pa.int64()),
        ("constant", pa.string()),
        ("ratio", pa.string()),
    ],
)
def test_a_field_has_the_column_type_of_its_declaration(name: str, type_: pa.DataType) -> None:
    assert COLUMN.type.field(name).type == type_


def test_a_class_alone_keeps_its_types() -> None:
    assert MessageColumn("one", (Everything,)).type.field("ratio").type == pa.float64()


def test_the_struct_follows_the_shared_columns() -> None:
    assert COLUMN.schema.names == [*DECODED.names, "all"]


def test_messages_are_values() -> None:
    shown, renamed, none = COLUMN.values(
        [
            Everything(inner=Inner(number=7), table={"k": 1}, mixed="m", free={"b": b"\x01"}),
            Renamed(inner=Other()),
            None,
        ]
    ).to_pylist()
    assert none is None
    assert shown["raw"] == "01020304"
    assert shown["long"] == Decimal((1 << 64) - 1)
    assert shown["ratio"] == "0.5"
    assert shown["bits"] == ["left", "right"]
    assert shown["level"] == shown["constant"] == "LOW"
    assert shown["inners"] == [{"number": 1}]
    assert shown["inner"] == {"number": 7, "text": None}
    assert shown["unset"] is None
    assert shown["mixed"] == '"m"'
    assert shown["free"] == '{"b": {"$hex": "01"}}'
    assert shown["table"] == '{"k": 1}'
    assert shown["message"] == {"number": 1, "text": None}
    assert shown["size"] == 4
    assert renamed["ratio"] == '"half"'
    assert renamed["inner"] == {"number": None, "text": "t"}
    assert renamed["raw"] is renamed["items"] is None


def decode(raw: bytes) -> Message:
    if raw == b"bad":
        raise MalformedError("it is bad", offset=2)
    return Inner(number=len(raw))


def summarise(message: Inner, raw: bytes) -> Summary:
    if raw == b"list":
        return Summary(type="list", destination=("a", "b"), created_ms=1 << 63)
    return Summary(
        type="text",
        id="i",
        source="s",
        destination="d",
        created_ms=1,
        expires_ms=2,
        priority_rank=3,
        cast=Cast.UNICAST,
        hops=4,
        reply_to="r",
        payload_size=message.number,
    )


INNER = MessageColumn("inner", (Inner,))


def test_each_frame_gives_a_row_or_a_reason() -> None:
    made = decode_each(INNER, decode, summarise, [b"bad", b"text"])
    assert made.schema == INNER.schema
    bad, text = made.to_pylist()
    assert (bad["reason"], bad["detail"], bad["offset"]) == ("malformed", "it is bad", 2)
    assert {name for name, value in bad.items() if value is not None} == {
        "reason",
        "detail",
        "offset",
    }
    assert text == {
        "reason": None,
        "detail": None,
        "offset": None,
        "type": "text",
        "message_id": "i",
        "source": "s",
        "destination": "d",
        "targets": None,
        "cast": "unicast",
        "created_ms": 1,
        "expires_ms": 2,
        "priority_rank": 3,
        "hops": 4,
        "reply_to": "r",
        "payload_size": 4,
        "inner": {"number": 4},
    }


def test_a_list_of_destinations_stands_apart_and_a_time_beyond_all_clocks_is_unknown() -> None:
    (row,) = decode_each(INNER, decode, summarise, [b"list"]).to_pylist()
    assert (row["destination"], row["targets"], row["created_ms"]) == (None, ["a", "b"], None)


def test_times_fit_or_are_unknown() -> None:
    assert [fits_int64(t) for t in (None, 0, (1 << 63) - 1, 1 << 63)] == [
        None,
        0,
        (1 << 63) - 1,
        None,
    ]


def test_a_frame_that_is_seen_again_is_not_decoded_again() -> None:
    asked: list[bytes] = []

    def decode_some(raws: list[bytes]) -> pa.RecordBatch:
        asked.extend(raws)
        return decode_each(INNER, decode, summarise, raws)

    raws = [b"a", b"bad", b"a", b"ccc", b"bad"]
    made = decode_distinct(pa.array(raws, pa.binary()), decode_some)
    assert asked == [b"a", b"bad", b"ccc"]
    assert made.equals(decode_each(INNER, decode, summarise, raws))


def test_frames_that_are_all_different_come_as_they_are() -> None:
    made = decode_distinct(
        pa.array([b"a", b"bb"], pa.binary()),
        lambda raws: decode_each(INNER, decode, summarise, raws),
    )
    assert made.column("inner").to_pylist() == [{"number": 1}, {"number": 2}]


def test_columns_by_the_codec_are_what_it_gives_frame_by_frame() -> None:
    columns = CodecColumns("inner", (Inner,), decode, summarise)
    raws = [b"a", b"bad", b"a", b"ccc"]
    assert columns.COLUMN.schema == INNER.schema
    expected = decode_each(INNER, decode, summarise, raws)
    assert columns.decode(pa.array(raws, pa.binary())).equals(expected)
