"""Fragments and masks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.protocols.uep12.packets import Reassembler, mask, mask_word, split, unmask
from wireloom.wire.errors import BadSignatureError, MalformedError, TooLargeError

MESSAGE = bytes(range(256)) * 16


def test_a_small_packet_travels_as_it_is() -> None:
    assert split(b"x" * 1408) == [b"x" * 1408]
    assert Reassembler().feed("a", b"x" * 1408, now_ms=0) == b"x" * 1408
    assert Reassembler().feed("a", b"", now_ms=0) == b""


def test_a_larger_one_is_split_into_full_fragments() -> None:
    packets = split(MESSAGE)
    assert [len(packet) for packet in packets] == [1418, 1418, 1290]
    assert [packet[:2].hex() for packet in packets] == ["6610", "6611", "6612"]
    assert len({packet[2:10] for packet in packets}) == 1


def test_eight_fragments_are_the_most() -> None:
    assert len(split(bytes(11_264))) == 8
    with pytest.raises(TooLargeError):
        split(bytes(11_265))


@given(order=st.permutations(range(3)), twice=st.integers(0, 2))
def test_fragments_come_together_in_any_order_and_repeated(order: list[int], twice: int) -> None:
    packets = split(MESSAGE)
    reassembler = Reassembler()
    seen = [reassembler.feed("a", packets[i], now_ms=i) for i in [order[twice], *order]]
    assert MESSAGE in seen
    assert seen.count(MESSAGE) == 1


def test_peers_do_not_mix() -> None:
    first, *others = split(MESSAGE)
    reassembler = Reassembler()
    reassembler.feed("a", first, now_ms=0)
    assert [reassembler.feed("b", packet, now_ms=0) for packet in others] == [None, None]


def test_every_fragment_extends_the_wait() -> None:
    packets = split(MESSAGE)
    reassembler = Reassembler()
    assert reassembler.feed("a", packets[0], now_ms=0) is None
    assert reassembler.feed("a", packets[1], now_ms=9_999) is None
    assert reassembler.feed("a", packets[2], now_ms=19_998) == MESSAGE


def test_what_waits_too_long_is_forgotten() -> None:
    packets = split(MESSAGE)
    reassembler = Reassembler()
    reassembler.feed("a", packets[0], now_ms=0)
    reassembler.feed("a", packets[1], now_ms=0)
    assert reassembler.feed("a", packets[2], now_ms=10_000) is None


def test_a_forged_fragment_spoils_the_whole() -> None:
    packets = split(MESSAGE)
    reassembler = Reassembler()
    reassembler.feed("a", packets[0], now_ms=0)
    reassembler.feed("a", packets[1], now_ms=0)
    with pytest.raises(BadSignatureError):
        reassembler.feed("a", packets[2][:-1] + b"?", now_ms=0)


@pytest.mark.parametrize(
    "packet",
    [
        b"\x66",
        b"\x66\x08" + bytes(7),
        b"\x66\x00" + bytes(8) + bytes(1408),
        b"\x66\x0a" + bytes(8) + bytes(1408),
        b"\x66\x08" + bytes(8) + bytes(1407),
        b"\x66\x09" + bytes(8) + bytes(1409),
        b"\x66\x09" + bytes(8),
    ],
    ids=["bare", "cut", "one of one", "third of two", "short first", "long last", "empty last"],
)
def test_a_fragment_that_breaks_the_rules_is_refused(packet: bytes) -> None:
    with pytest.raises(MalformedError):
        Reassembler().feed("a", packet, now_ms=0)


@pytest.mark.parametrize(
    ("h", "d", "size", "word"),
    [
        (5, 7, 10, 0xF1272EA1),
        (255, 0, 4, 0x9BB9FDC0),
        (224, 255, 1, 0x3D560890),
        (0, 0, 0, 0xE8CA8448),
    ],
)
def test_mask_words(h: int, d: int, size: int, word: int) -> None:
    assert mask_word(h, d, size) == word


@given(packet=st.binary(max_size=50), h=st.sampled_from([0, 31, 224, 255]), d=st.integers(0, 255))
def test_a_masked_packet_comes_back(packet: bytes, h: int, d: int) -> None:
    masked = mask(packet, h=h, d=d)
    assert len(masked) == len(packet) + 2
    assert unmask(masked) == packet


@pytest.mark.parametrize("first", [32, 0x66, 0x79, 223])
def test_other_first_bytes_mark_no_mask(first: int) -> None:
    assert unmask(bytes([first]) + b"rest") == bytes([first]) + b"rest"
    with pytest.raises(MalformedError):
        mask(b"rest", h=first, d=0)


def test_an_empty_packet_is_not_masked() -> None:
    assert unmask(b"") == b""
