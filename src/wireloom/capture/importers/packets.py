"""UDP datagrams and TCP segments out of packets: link layer, IP, and no further."""

from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, Final, NamedTuple

import dpkt
from dpkt import ethernet, ip, ip6, loopback, pcap, sll, sll2, tcp, udp

from wireloom.capture.refusal import UnreadableError


class SocketAddress(NamedTuple):
    """Where a packet came from or went to."""

    address: bytes
    port: int

    def __str__(self) -> str:
        address = ip_address(self.address)
        return f"[{address}]:{self.port}" if address.version == 6 else f"{address}:{self.port}"


class Datagram(NamedTuple):
    """The content of one UDP packet."""

    source: SocketAddress
    target: SocketAddress
    data: bytes


class TcpSegment(NamedTuple):
    """The content of one TCP packet."""

    source: SocketAddress
    target: SocketAddress
    sequence: int
    is_first: bool
    """It opens its direction (SYN)."""

    from_server: bool
    """It answers another: with SYN and ACK, or in HTTP."""

    data: bytes


def _raw_ip(data: bytes) -> Any:
    return ip6.IP6(data) if data[:1] and data[0] >> 4 == 6 else ip.IP(data)


_LINKS: Final[dict[int, Callable[[bytes], Any]]] = {
    pcap.DLT_NULL: loopback.Loopback,
    pcap.DLT_EN10MB: ethernet.Ethernet,
    12: _raw_ip,
    14: _raw_ip,
    101: _raw_ip,
    pcap.DLT_LOOP: loopback.Loopback,
    pcap.DLT_LINUX_SLL: sll.SLL,
    pcap.DLT_LINUX_SLL2: sll2.SLL2,
    pcap.DLT_IPV4: ip.IP,
    pcap.DLT_IPV6: ip6.IP6,
}
"""Link types by their numbers in files; raw IP has three, by system."""


_ANSWER: Final = tcp.TH_SYN | tcp.TH_ACK


def dissect(link_type: int, data: bytes) -> Datagram | TcpSegment | None:
    """What a packet carries; None if that is neither UDP nor TCP.

    Raises:
        UnreadableError: If the link type is not known, or the packet is damaged or cut short.
    """
    link = _LINKS.get(link_type)
    if link is None:
        raise UnreadableError(f"link type {link_type} is not known")
    try:
        packet = link(data)
    except Exception as error:  # dpkt's dissectors raise all kinds on garbage
        raise UnreadableError("a damaged packet") from error
    while isinstance(packet, dpkt.Packet) and not isinstance(packet, ip.IP | ip6.IP6):
        packet = packet.data
    return _transported(packet) if isinstance(packet, dpkt.Packet) else None


def _transported(packet: Any) -> Datagram | TcpSegment | None:
    carried = packet.data
    if _is_fragment(packet):
        raise UnreadableError("an IP fragment")
    if isinstance(carried, udp.UDP):
        return Datagram(
            SocketAddress(packet.src, carried.sport),
            SocketAddress(packet.dst, carried.dport),
            _whole(carried, carried.ulen),
        )
    if isinstance(carried, tcp.TCP):
        _check_whole(packet)
        data = bytes(carried.data)
        return TcpSegment(
            SocketAddress(packet.src, carried.sport),
            SocketAddress(packet.dst, carried.dport),
            carried.seq,
            bool(carried.flags & tcp.TH_SYN),
            carried.flags & _ANSWER == _ANSWER or data.startswith(b"HTTP/"),
            data,
        )
    if getattr(packet, "p", None) in (ip.IP_PROTO_UDP, ip.IP_PROTO_TCP):
        raise UnreadableError("a damaged packet")
    return None


def _is_fragment(packet: Any) -> bool:
    if isinstance(packet, ip6.IP6):
        return ip.IP_PROTO_FRAGMENT in packet.extension_hdrs
    return bool(packet.mf or packet.offset)


def _whole(datagram: Any, size: int) -> bytes:
    """The content of a datagram: what the link padded is cut off, a length of 0 is none."""
    data = bytes(datagram.data)
    if size == 0:
        return data
    if not udp.UDP_HDR_LEN <= size <= len(data) + udp.UDP_HDR_LEN:
        raise UnreadableError("a packet cut short")
    return data[: size - udp.UDP_HDR_LEN]


def _check_whole(packet: Any) -> None:
    """Refuses a TCP segment of which a part was not captured."""
    if isinstance(packet, ip6.IP6):
        said, there = packet.plen, len(packet) - packet.__hdr_len__
    else:
        said, there = packet.len, len(packet)
    if said > there:
        raise UnreadableError("a packet cut short")
