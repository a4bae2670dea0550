from typing import Any

import pytest

from wireloom.protocols.myriadmesh.constants import ContentType, ErrorCode
from wireloom.protocols.myriadmesh.parts import (
    codes,
    put_adapter,
    put_adapters,
    put_blobs,
    put_code,
    take_adapter,
    take_adapters,
    take_blobs,
    take_code,
    utf8,
)
from wireloom.protocols.myriadmesh.payloads import Adapter
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import MalformedError, TruncatedError

ADAPTER = Adapter(adapter_type=6, address="lora:ť")


def test_a_code_is_taken_and_put() -> None:
    assert take_code(Reader(b"\x04"), codes(ContentType), "x") is ContentType.MESSAGEPACK
    writer = Writer()
    put_code(writer, ErrorCode.NODE_UNAVAILABLE, ErrorCode, "x", size=2)
    assert writer.finish() == b"\x00\x08"


def test_a_reserved_code_is_refused_where_it_stands() -> None:
    reader = Reader(b"\x00\x00\x09")
    reader.u8("before")
    with pytest.raises(MalformedError, match="x 0x0009 is reserved") as caught:
        take_code(reader, codes(ErrorCode), "x", size=2)
    assert caught.value.offset == 1


def test_a_number_that_is_no_member_is_not_put() -> None:
    number: Any = 5
    with pytest.raises(MalformedError, match="x 5 is reserved"):
        put_code(Writer(), number, ContentType, "x")


@pytest.mark.parametrize("blobs", [(), (b"",), (b"a", b"", b"b" * 65535)])
def test_blobs_come_back(blobs: tuple[bytes, ...]) -> None:
    writer = Writer()
    put_blobs(writer, blobs, "count")
    raw = writer.finish()
    reader = Reader(raw)
    assert take_blobs(reader, "count", "blobs[]") == blobs
    reader.finish()
    assert raw.startswith(len(blobs).to_bytes(2, "big"))


@pytest.mark.parametrize("blobs", [(b"b" * 65536,), (b"",) * 65536])
def test_blobs_beyond_their_length_and_count_are_refused(blobs: tuple[bytes, ...]) -> None:
    with pytest.raises(MalformedError, match="65536 does not fit"):
        put_blobs(Writer(), blobs, "count")


def test_fewer_blobs_than_the_count_says_are_refused() -> None:
    with pytest.raises(TruncatedError):
        take_blobs(Reader(b"\xff\xff\x00\x01a"), "count", "blobs[]")


def test_an_adapter_is_type_length_and_address() -> None:
    writer = Writer()
    put_adapter(writer, ADAPTER)
    raw = writer.finish()
    assert raw == b"\x06\x07lora:\xc5\xa5"
    assert take_adapter(Reader(raw)) == ADAPTER


def test_255_adapters_come_back_and_one_more_is_refused() -> None:
    writer = Writer()
    put_adapters(writer, (ADAPTER,) * 255)
    assert take_adapters(Reader(writer.finish())) == (ADAPTER,) * 255
    with pytest.raises(MalformedError, match="adapter_count"):
        put_adapters(Writer(), (ADAPTER,) * 256)


def test_an_address_has_at_most_255_bytes() -> None:
    writer = Writer()
    put_adapter(writer, Adapter(adapter_type=1, address="ť" * 127 + "x"))
    assert take_adapter(Reader(writer.finish())).address_length == 255
    with pytest.raises(MalformedError, match="256 bytes"):
        put_adapter(Writer(), Adapter(adapter_type=1, address="ť" * 128))


def test_an_address_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(MalformedError, match="not UTF-8"):
        take_adapter(Reader(b"\x01\x02a\xff"))


def test_half_a_character_is_not_put() -> None:
    with pytest.raises(MalformedError, match="x has no UTF-8"):
        utf8("\ud800", "x")
