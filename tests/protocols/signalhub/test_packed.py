"""MessagePack, held against another library and against damage."""

import math
from typing import Any

import msgpack
import pytest
from hypothesis import given

from support.strategies import JSON_VALUES
from wireloom.protocols.signalhub.packed import Unpacker, is_map
from wireloom.wire.cursor import Span
from wireloom.wire.errors import MalformedError, TrailingBytesError, TruncatedError
from wireloom.wire.fields import MAX_NESTING


def unpacked(raw: bytes) -> Any:
    return Unpacker(raw).document()


@given(value=JSON_VALUES)
def test_what_another_library_packs_is_unpacked(value: Any) -> None:
    assert unpacked(msgpack.packb(value)) == value


@pytest.mark.parametrize(
    "value",
    [
        0,
        127,
        128,
        255,
        256,
        65535,
        65536,
        2**32 - 1,
        2**32,
        2**64 - 1,
        -1,
        -32,
        -33,
        -128,
        -129,
        -32768,
        -32769,
        -(2**31),
        -(2**31) - 1,
        -(2**63),
        "",
        "a" * 31,
        "a" * 32,
        "a" * 255,
        "a" * 256,
        "é" * 40000,
        [0] * 15,
        [0] * 16,
        [0] * 65536,
        {str(i): i for i in range(15)},
        {str(i): i for i in range(16)},
        {str(i): i for i in range(65536)},
        None,
        True,
        False,
        0.5,
        -1e300,
    ],
    ids=lambda value: f"{value!r:.12}",
)
def test_every_size_of_every_kind_is_unpacked(value: Any) -> None:
    found = unpacked(msgpack.packb(value))
    assert found == value
    assert type(found) is type(value)


def test_a_short_float_is_unpacked() -> None:
    assert unpacked(msgpack.packb(0.5, use_single_float=True)) == 0.5


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (2.0**31, int),
        (-(2.0**31), int),
        (1_739_731_000_000.0, int),
        (2.0**62, int),
        (2.0**31 - 1, float),
        (2.0**31 + 0.5, float),
        (2.0**63, float),
        (-(2.0**63), float),
        (1.0, float),
    ],
)
def test_large_whole_floats_are_integers(number: float, kind: type) -> None:
    found = unpacked(msgpack.packb(number))
    assert found == number
    assert type(found) is kind


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(number: float) -> None:
    with pytest.raises(MalformedError, match="not a number that JSON has"):
        unpacked(msgpack.packb({"a": number}))


@pytest.mark.parametrize(
    "value", [b"", b"x" * 300, b"x" * 70_000, msgpack.ExtType(5, b"x"), msgpack.ExtType(5, b"xyz")]
)
def test_bytes_and_extensions_are_refused(value: Any) -> None:
    with pytest.raises(MalformedError, match="bytes and extensions") as caught:
        unpacked(msgpack.packb({"a": value}))
    assert caught.value.offset == 3


def test_the_byte_without_a_meaning_is_refused() -> None:
    with pytest.raises(MalformedError, match="0xc1"):
        unpacked(b"\xc1")


def test_a_key_must_be_text() -> None:
    with pytest.raises(MalformedError, match="not text") as caught:
        unpacked(b"\x81\x01\x02")
    assert caught.value.offset == 1


@pytest.mark.parametrize("key", [b"\x90", b"\x80", b"\x91\x01"])
def test_a_key_must_not_be_a_list_or_map(key: bytes) -> None:
    with pytest.raises(MalformedError):
        unpacked(b"\x81" + key + b"\x02")


def test_a_key_must_not_stand_twice() -> None:
    with pytest.raises(MalformedError, match="'a' stands twice") as caught:
        unpacked(b"\x82\xa1a\x01\xa1a\x01")
    assert caught.value.offset == 4


def test_text_must_be_unicode() -> None:
    with pytest.raises(MalformedError, match="a is not UTF-8") as caught:
        unpacked(b"\x81\xa1a\xa2x\xff")
    assert caught.value.offset == 5


def test_nesting_ends_at_the_limit() -> None:
    assert unpacked(b"\x91" * MAX_NESTING + b"\x01")
    with pytest.raises(MalformedError, match="nested deeper than 64"):
        unpacked(b"\x91" * (MAX_NESTING + 1) + b"\x01")
    with pytest.raises(MalformedError, match="nested deeper than 64"):
        unpacked(b"\x81\xa1a" * (MAX_NESTING + 1) + b"\x01")


@pytest.mark.parametrize(
    "raw", [b"", b"\x81", b"\xa5abc", b"\xdd\x7f\xff\xff\xff", b"\xdf\x7f\xff\xff\xff", b"\xcb\0"]
)
def test_bytes_that_end_too_early_are_refused(raw: bytes) -> None:
    with pytest.raises(TruncatedError):
        unpacked(raw)


def test_bytes_after_the_document_are_refused() -> None:
    with pytest.raises(TrailingBytesError) as caught:
        unpacked(b"\x80\x00")
    assert caught.value.offset == 1


def test_spans_are_the_values_of_the_maps() -> None:
    unpacker = Unpacker(msgpack.packb({"a": {"b": 1, "c": [{"d": 2}]}, "e": {}, "f": "x"}))
    unpacker.document()
    assert unpacker.spans == [
        Span("a.b", 6, 1),
        Span("a.c", 9, 5),
        Span("e", 16, 1),
        Span("f", 19, 2),
    ]


def test_a_long_key_is_named_by_its_begin() -> None:
    unpacker = Unpacker(msgpack.packb({"k" * 5000: {"a": 1}}))
    unpacker.document()
    assert [span.name for span in unpacker.spans] == ["k" * 60 + ".a"]


def test_heads_of_maps_are_told_from_others() -> None:
    assert [head for head in range(256) if is_map(head)] == [*range(0x80, 0x90), 0xDE, 0xDF]
