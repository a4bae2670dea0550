import pytest

from protocols.myriadmesh.samples import frame
from support.cases import vectors
from wireloom.protocols.myriadmesh.codec import encode
from wireloom.protocols.myriadmesh.constants import ContentType
from wireloom.protocols.myriadmesh.fragments import (
    RESERVED_FRAGMENT_ID,
    FragmentHeader,
    Reassembler,
    capacity,
    put_fragment_header,
    split,
    take_fragment_header,
)
from wireloom.protocols.myriadmesh.messages import Data
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import MalformedError, TooLargeError, TruncatedError

HEADERS = [v for v in vectors("myriadmesh") if v.get("check") == "fragment_header"]


def made(size: int) -> bytes:
    """A frame of `size` bytes."""
    data = bytes(i % 251 for i in range(size - 100))
    return encode(frame(Data(content_type=ContentType.RAW, data=data)))


@pytest.mark.parametrize("vector", HEADERS, ids=lambda vector: vector["name"])
def test_header_vector_holds(vector: dict[str, dict[str, int]]) -> None:
    raw = bytes.fromhex(str(vector["hex"]))
    expect = vector["expect"]
    header = FragmentHeader(expect["fragment_id"], expect["number"], expect["total"])
    assert take_fragment_header(Reader(raw)) == header
    writer = Writer()
    put_fragment_header(writer, header)
    assert writer.finish() == raw


def test_a_frame_of_one_packet_is_sent_as_it_is() -> None:
    assert split(made(222), fragment_id=1) == [made(222)]


def test_a_frame_one_byte_longer_takes_two_packets() -> None:
    packets = split(made(223), fragment_id=0x1234)
    assert [packet[:4] for packet in packets] == [b"\x12\x34\x00\x02", b"\x12\x34\x01\x02"]
    assert [len(packet) for packet in packets] == [222, 4 + 5]


@pytest.mark.parametrize(("mtu", "size"), [(255, 64_005), (222, 55_590), (51, 11_985)])
def test_capacity_is_255_fragments(mtu: int, size: int) -> None:
    assert capacity(mtu) == size
    assert len(split(made(size), fragment_id=1, mtu=mtu)) == 255
    with pytest.raises(TooLargeError):
        split(made(size + 1), fragment_id=1, mtu=mtu)


def test_no_adapter_carries_more_than_a_frame() -> None:
    assert capacity(1400) == 65_535


def test_a_fragment_id_that_looks_like_a_frame_is_not_used() -> None:
    assert RESERVED_FRAGMENT_ID == 0x4D59
    with pytest.raises(MalformedError, match="0x4d59"):
        split(made(300), fragment_id=RESERVED_FRAGMENT_ID)
    assert split(made(200), fragment_id=RESERVED_FRAGMENT_ID) == [made(200)]


def test_a_fragment_id_has_two_bytes() -> None:
    with pytest.raises(MalformedError, match="fragment_id"):
        split(made(300), fragment_id=0x1_0000)


@pytest.mark.parametrize("mtu", [51, 222, 1400])
def test_fragments_come_together_in_any_order(mtu: int) -> None:
    raw = made(5000)
    packets = split(raw, fragment_id=7, mtu=mtu)
    reassembler = Reassembler(mtu=mtu)
    results = [reassembler.feed("peer", packet, now_ms=0) for packet in reversed(packets)]
    assert results == [None] * (len(packets) - 1) + [raw]


def test_peers_with_the_same_fragment_id_do_not_mix() -> None:
    one, two = split(made(300), fragment_id=7), split(made(400), fragment_id=7)
    reassembler = Reassembler()
    assert reassembler.feed("a", one[0], now_ms=0) is None
    assert reassembler.feed("b", two[0], now_ms=0) is None
    assert reassembler.feed("a", one[1], now_ms=0) == made(300)
    assert reassembler.feed("b", two[1], now_ms=0) == made(400)


def test_a_whole_frame_passes_through() -> None:
    assert Reassembler().feed("peer", made(200), now_ms=0) == made(200)


def test_an_incomplete_frame_is_dropped_a_minute_after_its_first_fragment() -> None:
    packets = split(made(600), fragment_id=7)
    reassembler = Reassembler()
    reassembler.feed("peer", packets[0], now_ms=0)
    reassembler.feed("peer", packets[1], now_ms=59_999)
    assert reassembler.feed("peer", packets[2], now_ms=60_000) is None
    again = Reassembler()
    again.feed("peer", packets[0], now_ms=0)
    again.feed("peer", packets[1], now_ms=30_000)
    assert again.feed("peer", packets[2], now_ms=59_999) == made(600)


@pytest.mark.parametrize("header", ["0001 00 00", "0001 02 02", "0001 ff ff"])
def test_a_fragment_beyond_the_total_is_refused(header: str) -> None:
    with pytest.raises(MalformedError, match="from 0") as caught:
        Reassembler().feed("peer", bytes.fromhex(header) + b"x", now_ms=0)
    assert caught.value.offset == 2


def test_an_empty_fragment_is_refused() -> None:
    with pytest.raises(MalformedError, match="is empty"):
        Reassembler().feed("peer", b"\x00\x01\x00\x02", now_ms=0)


def test_less_than_a_fragment_header_is_refused() -> None:
    with pytest.raises(TruncatedError):
        Reassembler().feed("peer", b"\x00\x01\x00", now_ms=0)


def test_a_packet_longer_than_the_adapter_takes_is_refused() -> None:
    with pytest.raises(TooLargeError, match="the adapter takes 222"):
        Reassembler().feed("peer", b"\x00\x01\x00\x02" + bytes(219), now_ms=0)


def test_fragments_that_make_more_than_a_frame_are_refused() -> None:
    reassembler = Reassembler(mtu=40_000)
    reassembler.feed("peer", b"\x00\x01\x00\x02" + bytes(39_000), now_ms=0)
    with pytest.raises(TooLargeError, match="78000 bytes"):
        reassembler.feed("peer", b"\x00\x01\x01\x02" + bytes(39_000), now_ms=0)


def test_fragments_that_contradict_each_other_are_refused() -> None:
    reassembler = Reassembler()
    reassembler.feed("peer", b"\x00\x01\x00\x03a", now_ms=0)
    with pytest.raises(MalformedError):
        reassembler.feed("peer", b"\x00\x01\x01\x02b", now_ms=0)
