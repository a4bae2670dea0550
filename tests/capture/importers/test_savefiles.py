"""Packets out of pcap and pcapng files."""

import random
import struct
from io import BytesIO

import pytest
from dpkt import pcap, pcapng

from capture.wire import pcap_of, pcapng_of
from wireloom.capture.importers.savefiles import (
    MAX_PACKET_SIZE,
    Packet,
    take_pcap,
    take_pcapng,
)
from wireloom.capture.refusal import Refusal

DATA = [b"first", b"the second", b""]
PACKETS = [
    Packet(number, (999 + number) * 1_000_000, 1, data) for number, data in enumerate(DATA, 1)
]


def taken_pcap(raw: bytes) -> list[Packet | Refusal]:
    return list(take_pcap(BytesIO(raw)))


def taken_pcapng(raw: bytes) -> list[Packet | Refusal]:
    return list(take_pcapng(BytesIO(raw)))


def reasons(items: list[Packet | Refusal]) -> list[str]:
    return [item.reason for item in items if isinstance(item, Refusal)]


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    size = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + size + body + size


def section(order: str = "<") -> bytes:
    return block(pcapng.PCAPNG_BT_SHB, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(link_type: int, options: bytes = b"", order: str = "<") -> bytes:
    return block(1, struct.pack(order + "HHI", link_type, 0, 0) + options, order)


def packet(index: int, ticks: int, data: bytes, options: bytes = b"", order: str = "<") -> bytes:
    head = struct.pack(order + "IIIII", index, ticks >> 32, ticks % 2**32, len(data), len(data))
    return block(6, head + data + bytes(-len(data) % 4) + options, order)


def option(code: int, data: bytes, order: str = "<") -> bytes:
    return struct.pack(order + "HH", code, len(data)) + data + bytes(-len(data) % 4)


@pytest.mark.parametrize("nano", [False, True])
def test_the_packets_of_a_pcap_file(nano: bool) -> None:
    assert taken_pcap(pcap_of(DATA, nano=nano)) == PACKETS


def test_a_pcap_file_of_the_other_byte_order_and_its_link_type() -> None:
    header = struct.pack(">IHHIIII", pcap.TCPDUMP_MAGIC, 2, 4, 0, 0, 65535, 101)
    record = struct.pack(">IIII", 1000, 5, 3, 3) + b"abc"
    assert taken_pcap(header + record) == [Packet(1, 1_000_000_005, 101, b"abc")]


@pytest.mark.parametrize("raw", [b"", b"\xd4\xc3\xb2\xa1", bytes(24), b"x" * 100])
def test_what_is_no_pcap_file_is_refused(raw: bytes) -> None:
    assert reasons(taken_pcap(raw)) == ["not a pcap file"]


@pytest.mark.parametrize("cut", [1, 10, 16 + 5])
def test_a_pcap_file_that_ends_within_a_packet_gives_those_before(cut: int) -> None:
    *before, last = taken_pcap(pcap_of([b"first", b"12345678"])[:-cut])
    assert before == PACKETS[:1]
    assert isinstance(last, Refusal)
    assert last == Refusal("packet 2", "the file ends within a packet")


def test_a_pcap_record_that_is_too_long_ends_the_file() -> None:
    raw = pcap_of([b"first"]) + struct.pack("<IIII", 0, 0, MAX_PACKET_SIZE + 1, 0) + b"rest"
    first, last = taken_pcap(raw)
    assert first == PACKETS[0]
    assert reasons([last]) == ["not a packet record"]


def test_the_packets_of_a_pcapng_file() -> None:
    assert taken_pcapng(pcapng_of(DATA)) == PACKETS


def test_interfaces_have_their_own_clock_and_link_type() -> None:
    raw = section() + interface(1, option(9, b"\x09") + option(0, b"")) + interface(101)
    raw += interface(113, option(9, b"\x8a") + option(14, struct.pack("<q", 7)) + option(0, b""))
    raw += packet(0, 1_000_000_001_999, b"a") + packet(1, 1_000_000_001, b"bc")
    raw += packet(2, 1536, b"def")
    assert taken_pcapng(raw) == [
        Packet(1, 1_000_000_001, 1, b"a"),
        Packet(2, 1_000_000_001, 101, b"bc"),
        Packet(3, 8_500_000, 113, b"def"),
    ]


def test_sections_have_their_own_byte_order_and_interfaces() -> None:
    raw = section() + interface(1) + packet(0, 1, b"little")
    raw += section(">") + interface(101, order=">") + packet(0, 2, b"big", order=">")
    raw += packet(1, 2, b"none", order=">")
    assert taken_pcapng(raw) == [
        Packet(1, 1, 1, b"little"),
        Packet(2, 2, 101, b"big"),
        Refusal("packet 3", "a packet of no known interface"),
    ]


def test_the_comment_of_a_packet_is_kept() -> None:
    raw = section() + interface(1)
    raw += packet(0, 1, b"a", option(1, "ä".encode()) + option(0, b""))
    raw += packet(0, 1, b"a", option(2, b"flag") + option(0, b""))
    assert [one.comment for one in taken_pcapng(raw) if isinstance(one, Packet)] == [
        "ä".encode(),
        None,
    ]


def test_old_packet_blocks_are_read_and_simple_ones_have_no_time() -> None:
    old = struct.pack("<HHIIII", 0, 0, 0, 5, 3, 3) + b"abc\0"
    raw = section() + interface(1) + block(2, old) + block(3, struct.pack("<I", 3) + b"abc\0")
    assert taken_pcapng(raw) == [
        Packet(1, 5, 1, b"abc"),
        Refusal("packet 2", "a packet without a time"),
    ]


def test_other_blocks_are_passed_over() -> None:
    assert taken_pcapng(section() + block(5, b"statistics!!") + interface(1)) == []


@pytest.mark.parametrize("raw", [b"x" * 40, b"\x0a\x0d\x0d", bytes(40)])
def test_what_is_no_pcapng_file_is_refused(raw: bytes) -> None:
    assert reasons(taken_pcapng(raw)) == ["not a pcapng file"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (struct.pack("<II", 6, 4), "not a pcapng block"),
        (struct.pack("<II", 6, 13), "not a pcapng block"),
        (struct.pack("<II", 6, 2**31), "not a pcapng block"),
        (struct.pack("<II", 6, 64), "the file ends within a block"),
        (b"\x06\0\0", "the file ends within a block"),
        (b"\x0a\x0d\x0d\x0a", "the file ends within a block"),
        (block(6, bytes(4)), "not a packet block"),
        (
            block(6, struct.pack("<IIIII", 0, 0, 0, 99, 99) + bytes(8)),
            "a packet longer than its block",
        ),
    ],
)
def test_damaged_blocks_are_told_and_what_came_before_is_kept(bad: bytes, reason: str) -> None:
    items = taken_pcapng(section() + interface(1) + packet(0, 1, b"good") + bad)
    assert items[0] == Packet(1, 1, 1, b"good")
    assert reasons(items) == [reason]


def test_packets_of_a_damaged_interface_are_refused() -> None:
    raw = section() + block(1, bytes(4)) + packet(0, 1, b"a")
    assert reasons(taken_pcapng(raw)) == ["a packet of no known interface"]


@pytest.mark.parametrize("resolution", [b"\x7f", b"\xff", b"\x00"])
def test_absurd_clocks_raise_nothing(resolution: bytes) -> None:
    raw = section() + interface(1, option(9, resolution)) + packet(0, 2**64 - 1, b"a")
    assert isinstance(taken_pcapng(raw)[0], Packet | Refusal)


def test_no_damage_to_a_savefile_raises() -> None:
    source = random.Random(6)
    for good, take in ((pcap_of(DATA), taken_pcap), (pcapng_of(DATA), taken_pcapng)):
        for _ in range(500):
            raw = bytearray(good)
            for _ in range(source.randint(1, 4)):
                raw[source.randrange(len(raw))] = source.randrange(256)
            take(bytes(raw[: source.randint(0, len(raw))]))
