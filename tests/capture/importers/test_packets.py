"""Datagrams and segments out of packets."""

import random
import struct
from contextlib import suppress

import pytest
from dpkt import ethernet, ip, pcap, tcp

from capture.wire import (
    CLIENT,
    CLIENT6,
    SERVER,
    SERVER6,
    on_ethernet,
    tcp_ip,
    udp_ip,
    udp_ip6,
)
from wireloom.capture.importers.packets import Datagram, SocketAddress, TcpSegment, dissect
from wireloom.capture.refusal import UnreadableError

PLAIN = udp_ip(b"hello")
PLAIN6 = udp_ip6(b"hello")
EXPECTED = Datagram(SocketAddress(CLIENT, 5000), SocketAddress(SERVER, 4001), b"hello")
EXPECTED6 = Datagram(SocketAddress(CLIENT6, 5000), SocketAddress(SERVER6, 4001), b"hello")
IP6_TYPE = ethernet.ETH_TYPE_IP6


@pytest.mark.parametrize(
    ("link_type", "packet", "expected"),
    [
        (1, on_ethernet(PLAIN), EXPECTED),
        (1, on_ethernet(PLAIN6, IP6_TYPE), EXPECTED6),
        (1, on_ethernet(PLAIN) + bytes(12), EXPECTED),
        (1, on_ethernet(b"\x00\x07\x08\x00" + PLAIN, 0x8100), EXPECTED),
        (1, on_ethernet(b"\x00\x07\x81\x00\x00\x08\x86\xdd" + PLAIN6, 0x88A8), EXPECTED6),
        (101, PLAIN, EXPECTED),
        (101, PLAIN6, EXPECTED6),
        (12, PLAIN, EXPECTED),
        (14, PLAIN6, EXPECTED6),
        (228, PLAIN, EXPECTED),
        (229, PLAIN6, EXPECTED6),
        (113, bytes(14) + b"\x08\x00" + PLAIN, EXPECTED),
        (113, bytes(14) + b"\x86\xdd" + PLAIN6, EXPECTED6),
        (276, b"\x08\x00" + bytes(18) + PLAIN, EXPECTED),
        (0, struct.pack("=I", 2) + PLAIN, EXPECTED),
        (108, struct.pack(">I", 2) + PLAIN, EXPECTED),
        (0, struct.pack("=I", 30) + PLAIN6, EXPECTED6),
    ],
)
def test_a_datagram_on_every_link(link_type: int, packet: bytes, expected: Datagram) -> None:
    assert dissect(link_type, packet) == expected


def test_a_tcp_segment() -> None:
    client, server = SocketAddress(CLIENT, 50_000), SocketAddress(SERVER, 8090)
    assert dissect(1, tcp_ip(True, 7, b"GET ")) == TcpSegment(
        client, server, 7, is_first=False, from_server=False, data=b"GET "
    )
    opening = dissect(1, tcp_ip(True, 7, b"", tcp.TH_SYN))
    assert isinstance(opening, TcpSegment)
    assert (opening.is_first, opening.from_server) == (True, False)
    answer = dissect(1, tcp_ip(False, 7, b"", tcp.TH_SYN | tcp.TH_ACK))
    assert isinstance(answer, TcpSegment)
    assert (answer.is_first, answer.from_server) == (True, True)
    reply = dissect(1, tcp_ip(False, 7, b"HTTP/1.1 101 "))
    assert isinstance(reply, TcpSegment)
    assert reply.from_server


@pytest.mark.parametrize(
    "packet",
    [
        on_ethernet(bytes(28), ethernet.ETH_TYPE_ARP),
        on_ethernet(b"payload", 0x1234),
        on_ethernet(bytes(ip.IP(src=CLIENT, dst=SERVER, p=1, data=b"\x08\0\0\0\0\0\0\0"))),
    ],
)
def test_what_is_neither_udp_nor_tcp_is_nothing(packet: bytes) -> None:
    assert dissect(1, packet) is None


@pytest.mark.parametrize(
    ("link_type", "packet", "reason"),
    [
        (147, PLAIN, "link type 147 is not known"),
        (1, b"short", "a damaged packet"),
        (101, b"", "a damaged packet"),
        (101, PLAIN[:-2], "a packet cut short"),
        (101, PLAIN[:24], "a damaged packet"),
        (101, udp_ip(b"hello", offset=5), "an IP fragment"),
        (101, udp_ip(b"hello", mf=1), "an IP fragment"),
        (1, tcp_ip(True, 7, b"GET ")[:-2], "a packet cut short"),
        (
            101,
            PLAIN6[:6] + b"\x2c" + PLAIN6[7:40] + b"\x11" + bytes(7) + PLAIN6[40:],
            "an IP fragment",
        ),
    ],
)
def test_packets_that_are_damaged_or_incomplete_are_refused(
    link_type: int, packet: bytes, reason: str
) -> None:
    with pytest.raises(UnreadableError, match=reason):
        dissect(link_type, packet)


def test_a_cut_segment_over_ipv6_is_refused() -> None:
    segment = bytes(tcp.TCP(sport=1, dport=2, data=b"hello"))
    head = struct.pack(">IHBB", 0x60000000, len(segment), 6, 64) + CLIENT6 + SERVER6
    whole = dissect(229, head + segment)
    assert isinstance(whole, TcpSegment)
    assert whole.data == b"hello"
    with pytest.raises(UnreadableError, match="a packet cut short"):
        dissect(229, head + segment[:-1])


def test_a_datagram_without_length_is_all_there_is() -> None:
    packet = bytearray(PLAIN)
    packet[24:26] = bytes(2)
    assert dissect(101, bytes(packet)) == EXPECTED


def test_endpoints_are_written_as_people_do() -> None:
    assert str(SocketAddress(CLIENT, 4001)) == "192.0.2.1:4001"
    assert str(SocketAddress(CLIENT6, 4001)) == "[2001:db8::1]:4001"


def test_no_damage_to_a_packet_raises_anything_else() -> None:
    source = random.Random(7)
    good = [(1, on_ethernet(PLAIN)), (1, on_ethernet(PLAIN6, IP6_TYPE)), (1, tcp_ip(True, 1, b"x"))]
    good += [(pcap.DLT_LINUX_SLL, bytes(14) + b"\x08\x00" + PLAIN), (0, bytes(4) + PLAIN)]
    for _ in range(3000):
        link_type, packet = source.choice(good)
        raw = bytearray(packet)
        for _ in range(source.randint(1, 4)):
            raw[source.randrange(len(raw))] = source.randrange(256)
        with suppress(UnreadableError):
            dissect(link_type, bytes(raw[: source.randint(0, len(raw))]))
