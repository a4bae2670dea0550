"""Captured frames as a pcapng file, for Wireshark.

Each link is an interface. A frame is wrapped in Ethernet, IP and UDP. A peer that is known by its
address has that address and port; for other names addresses are made. What else is known of a frame
stands in the packet's comment, as the JSON line that an import would take, without the frame.
"""

from hashlib import sha256
from ipaddress import ip_address
from typing import Any, BinaryIO, Final

from dpkt import ethernet, ip, ip6, pcapng, udp

from wireloom.capture.frame import Direction
from wireloom.capture.jsonl import put_line
from wireloom.registry import every
from wireloom.wire.recognition import DISCARD_PORT

COMMENT_MARK: Final = b"wireloom "
"""What the comment of an exported packet begins with."""

MAX_FRAME_SIZE: Final = 65_507
"""What fits into a UDP packet over IPv4, which is a little less than over IPv6."""

MAX_COMMENT_SIZE: Final = 65_535

PORTS: Final = {one.name: one.recognition.port for one in every()}
"""Where frames are said to go; a dissector of Wireshark can be bound to these."""

SOURCE_PORT: Final = 49_152
MAX_PORT: Final = 65_535
IPV6_SIZE: Final = 16
_SNAPLEN: Final = 262_144


class PcapngWriter:
    """Writes frames to `file`, which it begins as a pcapng section.

    Raises:
        OSError: If the file cannot be written; so does `write`.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._interfaces: dict[str, int] = {}
        application = pcapng.PcapngOptionLE(code=pcapng.PCAPNG_OPT_SHB_USERAPPL, data=b"wireloom")
        self._put(pcapng.SectionHeaderBlockLE(opts=[application, pcapng.PcapngOptionLE()]))

    def write(self, row: dict[str, Any]) -> bool:
        """Writes one captured frame; False if it is too large for a packet."""
        if len(row["raw"]) > MAX_FRAME_SIZE:
            return False
        at = row["captured_at"] % (1 << 64)
        self._put(
            pcapng.EnhancedPacketBlockLE(
                iface_id=self._interface(row["link"]),
                ts_high=at >> 32,
                ts_low=at & 0xFFFFFFFF,
                pkt_data=_wrapped(row),
                opts=_comment(row),
            )
        )
        return True

    def _interface(self, link: str) -> int:
        index = self._interfaces.get(link)
        if index is None:
            index = self._interfaces[link] = len(self._interfaces)
            name = pcapng.PcapngOptionLE(
                code=pcapng.PCAPNG_OPT_IF_NAME, data=link.encode()[:MAX_COMMENT_SIZE]
            )
            self._put(
                pcapng.InterfaceDescriptionBlockLE(
                    snaplen=_SNAPLEN, opts=[name, pcapng.PcapngOptionLE()]
                )
            )
        return index

    def _put(self, block: Any) -> None:
        self._file.write(bytes(block))


def _wrapped(row: dict[str, Any]) -> bytes:
    is_in = row["direction"] == Direction.IN
    port = PORTS.get(row["protocol"], DISCARD_PORT)
    known = _endpoint(row["peer"])
    if known is None:
        there, here = _address(row["peer"] or row["node"]), _address(row["node"])
        ports = SOURCE_PORT, port
    else:
        there, here = known[0], _address(row["node"], is_long=len(known[0]) == IPV6_SIZE)
        ports = (known[1], port) if is_in else (port, known[1])
    source, target = (there, here) if is_in else (here, there)
    datagram = udp.UDP(sport=ports[0], dport=ports[1], data=row["raw"])
    datagram.ulen = len(datagram)
    packet = _packet(source, target, datagram)
    kind = ethernet.ETH_TYPE_IP6 if len(source) == IPV6_SIZE else ethernet.ETH_TYPE_IP
    ends = {"src": _hardware(source), "dst": _hardware(target)}
    return bytes(ethernet.Ethernet(**ends, type=kind, data=packet))


def _packet(source: bytes, target: bytes, datagram: udp.UDP) -> ip.IP | ip6.IP6:
    if len(source) == IPV6_SIZE:
        packet = ip6.IP6(src=source, dst=target, nxt=ip.IP_PROTO_UDP, data=datagram)
        packet.plen = len(datagram)
        packet.extension_hdrs = {}
        return packet
    return ip.IP(src=source, dst=target, p=ip.IP_PROTO_UDP, data=datagram)


def _endpoint(peer: str | None) -> tuple[bytes, int] | None:
    """Address and port of a peer that is called by them, as `192.0.2.1:4001` or `[::1]:4001`."""
    host, _, port = (peer or "").rpartition(":")
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None
    if not (port.isdecimal() and port.isascii() and int(port) <= MAX_PORT):
        return None
    return address.packed, int(port)


def _comment(row: dict[str, Any]) -> list[Any]:
    text = COMMENT_MARK + put_line({**row, "raw": b""}).rstrip()
    if len(text) > MAX_COMMENT_SIZE:
        return []
    return [
        pcapng.PcapngOptionLE(code=pcapng.PCAPNG_OPT_COMMENT, data=text),
        pcapng.PcapngOptionLE(),
    ]


def _address(name: str, *, is_long: bool = False) -> bytes:
    """An address of a private network: 10.0.0.0/8, or fd00::/8 where it is to be long."""
    digest = sha256(name.encode()).digest()
    return bytes([0xFD]) + digest[: IPV6_SIZE - 1] if is_long else bytes([10]) + digest[:3]


def _hardware(address: bytes) -> bytes:
    """A locally administered Ethernet address."""
    return b"\x02\x00" + address[-4:]
