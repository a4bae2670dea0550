"""Reader and Writer: mirrors of each other, refusing before they allocate."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.wire.cursor import ByteOrder, Reader, Span, TracingReader, Writer
from wireloom.wire.errors import MalformedError, TrailingBytesError, TruncatedError

RANGES = {
    "u8": (0, 2**8 - 1),
    "u16": (0, 2**16 - 1),
    "i16": (-(2**15), 2**15 - 1),
    "u32": (0, 2**32 - 1),
    "i32": (-(2**31), 2**31 - 1),
    "u48": (0, 2**48 - 1),
    "u64": (0, 2**64 - 1),
}
orders = pytest.mark.parametrize("order", ["big", "little"])
kinds = pytest.mark.parametrize("kind", RANGES)


@orders
@kinds
@given(data=st.data())
def test_an_integer_comes_back(order: ByteOrder, kind: str, data: st.DataObject) -> None:
    value = data.draw(st.integers(*RANGES[kind]))
    writer = Writer(order=order)
    getattr(writer, kind)(value, "n")
    reader = Reader(writer.finish(), order=order)
    assert getattr(reader, kind)("n") == value
    reader.finish()


@kinds
def test_an_integer_out_of_range_is_refused(kind: str) -> None:
    low, high = RANGES[kind]
    for value in (low - 1, high + 1):
        with pytest.raises(MalformedError, match="does not fit"):
            getattr(Writer(), kind)(value, "n")


def test_byte_order() -> None:
    assert Reader(b"\1\2").u16("n") == 0x0102
    assert Reader(b"\1\2", order="little").u16("n") == 0x0201


def test_a_cut_field_is_named_with_its_place() -> None:
    reader = Reader(b"\1\2\3")
    reader.u8("first")
    with pytest.raises(TruncatedError, match="second needs 4 bytes, 2 are left") as caught:
        reader.u32("second")
    assert caught.value.offset == 1
    assert reader.remaining == 2


def test_a_huge_claim_allocates_nothing() -> None:
    with pytest.raises(TruncatedError):
        Reader(b"abc").take(2**62, "claim")


def test_rest_may_be_empty() -> None:
    reader = Reader(b"ab", offset=1)
    assert reader.rest("rest") == b"b"
    assert reader.rest("rest") == b""


def test_text_must_be_utf8() -> None:
    assert Reader("a β".encode()).text(4, "t") == "a β"
    with pytest.raises(MalformedError, match="t is not UTF-8") as caught:
        Reader(b"xab\xffc", offset=1).text(4, "t")
    assert caught.value.offset == 3


@pytest.mark.parametrize(("raw", "words"), [(b"ab", "1 byte after"), (b"abc", "2 bytes after")])
def test_trailing_bytes_are_counted(raw: bytes, words: str) -> None:
    reader = Reader(raw)
    reader.u8("first")
    with pytest.raises(TrailingBytesError, match=words) as caught:
        reader.finish()
    assert caught.value.offset == 1


def test_several_fields_at_once() -> None:
    layout = struct.Struct(">4sBH")
    reader = TracingReader(b"MYMS\1\0\2rest")
    assert reader.unpack(layout, ("magic", "version", "size")) == (b"MYMS", 1, 2)
    assert reader.spans == [Span("magic", 0, 4), Span("version", 4, 1), Span("size", 5, 2)]
    with pytest.raises(TruncatedError, match="magic to size needs 7 bytes"):
        reader.unpack(layout, ("magic", "version", "size"))


def test_tracing_numbers_the_items_of_a_list() -> None:
    reader = TracingReader(b"abc")
    for _ in range(3):
        reader.u8("items[].x")
    assert [span.name for span in reader.spans] == ["items.0.x", "items.1.x", "items.2.x"]


def test_bytes_of_a_wrong_size_are_refused() -> None:
    writer = Writer()
    writer.put(b"ab", "two", size=2)
    with pytest.raises(MalformedError, match="key must be 32 bytes, not 2"):
        writer.put(b"ab", "key", size=32)
    assert writer.finish() == b"ab"
