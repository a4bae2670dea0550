import pytest
import zstandard

from wireloom.protocols.myriadmesh.compression import Inflater, deflate, saves
from wireloom.protocols.myriadmesh.constants import MAX_DECOMPRESSED_SIZE, MAX_WINDOW_SIZE
from wireloom.wire.errors import MalformedError, TooLargeError

UNSIZED = zstandard.ZstdCompressor(write_content_size=False)


@pytest.mark.parametrize("pack", [deflate, UNSIZED.compress])
@pytest.mark.parametrize("size", [1, 1000, MAX_DECOMPRESSED_SIZE])
def test_what_is_packed_is_unpacked(pack: object, size: int) -> None:
    assert callable(pack)
    plain = b"x" * size
    inflater = Inflater()
    assert inflater.inflate(pack(plain)) == plain
    assert inflater.room == MAX_DECOMPRESSED_SIZE - size


@pytest.mark.parametrize("pack", [deflate, UNSIZED.compress])
def test_a_bomb_is_refused(pack: object) -> None:
    assert callable(pack)
    with pytest.raises(TooLargeError, match="1048576"):
        Inflater().inflate(pack(b"x" * (MAX_DECOMPRESSED_SIZE + 1)))


def test_the_room_is_for_all_that_is_unpacked() -> None:
    inflater = Inflater()
    half = deflate(bytes(MAX_DECOMPRESSED_SIZE // 2))
    inflater.inflate(half)
    inflater.inflate(half)
    with pytest.raises(TooLargeError, match="0 are left"):
        inflater.inflate(deflate(b"x"))


def test_a_stated_size_is_believed_only_to_refuse() -> None:
    lie = bytearray(deflate(b"x" * 1000))
    lie[5] ^= 0x80
    with pytest.raises(MalformedError, match="does not unpack"):
        Inflater().inflate(bytes(lie))


def test_a_huge_stated_size_is_refused_before_unpacking() -> None:
    stated = bytes.fromhex("28b52ffd e0 ffffffffffff0000")
    with pytest.raises(TooLargeError):
        Inflater().inflate(stated + bytes(20))


def test_a_window_beyond_the_limit_is_refused() -> None:
    assert MAX_WINDOW_SIZE == 1 << 23
    empty_last_block = "010000"
    windows = {"68": b"", "70": None}
    for descriptor, result in windows.items():
        packed = bytes.fromhex("28b52ffd00" + descriptor + empty_last_block)
        if result is None:
            with pytest.raises(TooLargeError, match="window of 16777216"):
                Inflater().inflate(packed)
        else:
            assert Inflater().inflate(packed) == result


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"garbage that is no zstd",
        deflate(b"x" * 1000)[:-1],
        UNSIZED.compress(b"x" * 1000)[:-1],
        deflate(b"x" * 1000) + b"\0",
        deflate(b"x" * 1000) * 2,
        bytes.fromhex("502a4d1804000000deadbeef"),
    ],
)
def test_what_is_not_one_zstd_frame_is_refused(packed: bytes) -> None:
    with pytest.raises(MalformedError, match="does not unpack"):
        Inflater().inflate(packed)


def test_compression_must_save_more_than_a_tenth() -> None:
    assert saves(bytes(100), bytes(89))
    assert not saves(bytes(100), bytes(90))
