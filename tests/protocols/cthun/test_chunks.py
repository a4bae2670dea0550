"""Versions, descriptors, sizes, order and multiplicity of chunks."""

from typing import Any

import pytest

from protocols.cthun.outside import checks
from wireloom.protocols.cthun.chunks import Chunk, join, split
from wireloom.protocols.cthun.constants import MAX_DEBUG_CHUNKS, MAX_MESSAGE_SIZE, ChunkType
from wireloom.wire.errors import (
    MalformedError,
    TooLargeError,
    TrailingBytesError,
    TruncatedError,
    UnsupportedVersionError,
    WireError,
)

ENVELOPE = Chunk(ChunkType.ENVELOPE, 0, b"{}")
DATA = Chunk(ChunkType.DATA, 0, b"data")
DEBUG = Chunk(ChunkType.DEBUG, 0, b"")
HEAD = bytes.fromhex("01 01 00000002 7b7d")


@checks("chunks")
def test_vector_of_another_implementation_holds(vector: dict[str, Any]) -> None:
    raw = bytes.fromhex(vector["hex"])
    expect = vector["expect"]
    if not expect["ok"]:
        with pytest.raises(WireError) as caught:
            split(raw)
        assert caught.value.reason == expect["reason"]
        return
    chunks = split(raw).chunks
    assert [[c.type, c.flags, c.content.hex()] for c in chunks] == expect["chunks"]
    assert join(chunks) == raw


@checks("descriptor")
def test_descriptor_vector_holds(vector: dict[str, Any]) -> None:
    chunk = Chunk(ChunkType(vector["expect"]["type"]), vector["expect"]["flags"], b"")
    raw = join([chunk])
    assert raw[1:2].hex() == vector["hex"]
    assert split(raw).chunks == [chunk]


@checks("size")
def test_size_vector_holds(vector: dict[str, Any]) -> None:
    raw = join([Chunk(ChunkType.ENVELOPE, 0, bytes(vector["expect"]["size"]))])
    assert raw[2:6].hex() == vector["hex"]
    assert len(split(raw).chunks[0].content) == vector["expect"]["size"]


def test_split_refuses_nothing_at_all() -> None:
    with pytest.raises(TruncatedError, match="version"):
        split(b"")


@pytest.mark.parametrize("version", [0, 2, 255])
def test_split_refuses_another_version(version: int) -> None:
    with pytest.raises(UnsupportedVersionError, match=f"version {version}") as caught:
        split(bytes([version]) + HEAD[1:])
    assert caught.value.offset == 0


@pytest.mark.parametrize("raw", [HEAD[:1], HEAD[:5]])
@pytest.mark.parametrize("lenient", [False, True])
def test_split_refuses_a_message_without_envelope(raw: bytes, lenient: bool) -> None:
    with pytest.raises(MalformedError, match="no envelope"):
        split(raw, lenient=lenient)
    with pytest.raises(MalformedError, match="no envelope"):
        join([])


@pytest.mark.parametrize("other", [DATA, DEBUG])
def test_the_envelope_comes_first(other: Chunk) -> None:
    with pytest.raises(MalformedError, match="first chunk") as caught:
        split(b"\1" + join([ENVELOPE, other])[8:] + HEAD[1:])
    assert caught.value.offset == 1
    with pytest.raises(MalformedError, match="first chunk"):
        join([other, ENVELOPE])


@pytest.mark.parametrize("twice", [ENVELOPE, DATA])
def test_envelope_and_data_stand_once(twice: Chunk) -> None:
    first = [ENVELOPE] if twice is ENVELOPE else [ENVELOPE, DATA]
    name = twice.type.name.lower()
    raw = join(first)
    with pytest.raises(MalformedError, match=f"second {name}") as caught:
        split(raw + join([ENVELOPE, DATA])[8 if twice is DATA else 1 :])
    assert caught.value.offset == len(raw)
    with pytest.raises(MalformedError, match=f"second {name}"):
        join([*first, twice])


def test_data_may_come_after_debug() -> None:
    chunks = [ENVELOPE, DEBUG, DATA, DEBUG]
    assert split(join(chunks)).chunks == chunks


@pytest.mark.parametrize("type_", [0, *range(4, 16)])
def test_split_refuses_an_unknown_chunk_type(type_: int) -> None:
    with pytest.raises(MalformedError, match="no known chunk type") as caught:
        split(HEAD + bytes([type_, 0, 0, 0, 0]))
    assert caught.value.offset == len(HEAD)


def test_a_negative_size_is_refused_where_it_stands() -> None:
    with pytest.raises(MalformedError, match="-2147483648 is negative") as caught:
        split(HEAD + bytes.fromhex("02 80000000"))
    assert caught.value.offset == len(HEAD) + 1


def test_a_size_may_use_all_that_is_left_and_no_more() -> None:
    assert split(HEAD + bytes.fromhex("02 00000001 61")).chunks[1].content == b"a"
    with pytest.raises(TruncatedError, match="content needs 2 bytes, 1 are left"):
        split(HEAD + bytes.fromhex("02 00000002 61"))


@pytest.mark.parametrize("count", [1, 4])
def test_only_lenient_splitting_keeps_bytes_too_short_for_a_chunk(count: int) -> None:
    raw = HEAD + b"\2" * count
    assert split(raw, lenient=True).trailing == b"\2" * count
    with pytest.raises(TrailingBytesError) as caught:
        split(raw)
    assert caught.value.offset == len(HEAD)


def test_five_bytes_more_are_a_chunk() -> None:
    assert split(HEAD + bytes.fromhex("02 00000000"), lenient=True).chunks[1].content == b""
    with pytest.raises(TruncatedError):
        split(HEAD + b"\2" * 5, lenient=True)


@pytest.mark.parametrize("flags", [-1, 16, 2**70, float("nan")])
def test_join_refuses_flags_of_more_than_four_bits(flags: Any) -> None:
    with pytest.raises(MalformedError, match="4 bits"):
        join([Chunk(ChunkType.ENVELOPE, flags, b"")])


def test_the_largest_message_has_64_mib() -> None:
    largest = Chunk(ChunkType.ENVELOPE, 0, bytes(MAX_MESSAGE_SIZE - 6))
    raw = join([largest])
    assert len(raw) == 64 * 1024 * 1024
    assert len(split(raw).chunks) == 1
    with pytest.raises(TooLargeError, match="67108869"):
        join([largest, DEBUG])
    with pytest.raises(TooLargeError, match="67108865"):
        split(raw + b"\0", lenient=True)


def test_the_number_of_debug_chunks_is_bounded() -> None:
    raw = join([ENVELOPE, *[DEBUG] * MAX_DEBUG_CHUNKS])
    assert len(split(raw).chunks) == 1 + MAX_DEBUG_CHUNKS
    with pytest.raises(TooLargeError, match="65536 debug chunks"):
        split(raw + bytes.fromhex("03 00000000"))
    assert split(raw + bytes.fromhex("02 00000000")).chunks[-1].type is ChunkType.DATA
