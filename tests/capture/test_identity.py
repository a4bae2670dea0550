"""Which log a segment belongs to."""

import pytest

from wireloom.capture.identity import PACKED_SIZE, new_identity, put_identity, take_identity


def test_an_identity_is_written_and_read() -> None:
    identity = new_identity()
    assert identity != new_identity()
    packed = put_identity(identity)
    assert len(packed) == PACKED_SIZE
    assert take_identity(packed) == identity


@pytest.mark.parametrize("raw", [b"", bytes(41), b"ab" * 16 + b" 00000000", b"xy" * 20 + b"z"])
def test_what_is_none_is_none(raw: bytes) -> None:
    assert take_identity(raw) is None


def test_no_flipped_bit_makes_another_identity() -> None:
    packed = put_identity("ab" * 16)
    for place in range(8 * len(packed)):
        raw = bytearray(packed)
        raw[place // 8] ^= 1 << place % 8
        assert take_identity(bytes(raw)) is None
