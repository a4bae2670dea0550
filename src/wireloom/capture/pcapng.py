"""Captured frames as a pcapng file, for Wireshark.

Each link is an interface. A frame is wrapped in Ethernet, IPv4 and UDP; addresses are made
from the names of node and peer. What else is known of it stands in the packet's comment,
as the JSON line that an import would take, without the frame.
"""

from hashlib import sha256
from typing import Any, BinaryIO, Final

from dpkt import ethernet, ip, pcapng, udp

from wireloom.capture.jsonl import put_line
from wireloom.capture.record import Direction
from wireloom.protocols.cthun.constants import PORT as CTHUN_PORT
from wireloom.protocols.myriadmesh.constants import UDP_PORT

COMMENT_MARK: Final = b"wireloom "
"""What the comment of an exported packet begins with."""

MAX_FRAME_SIZE: Final = 65_507
"""What fits into a UDP packet over IPv4."""

MAX_COMMENT_SIZE: Final = 65_535

PORTS: Final = {
    "cthun": CTHUN_PORT,
    "dtn": 4556,
    "myriadmesh": UDP_PORT,
    "signalhub": 8080,
    "uep12": 7912,
}
"""Where frames are said to go; a dissector of Wireshark can be bound to these."""

UNKNOWN_PORT: Final = 9
"""The discard service: for frames whose protocol is not known."""

SOURCE_PORT: Final = 49_152
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
    here, there = _address(row["node"]), _address(row["peer"] or row["node"])
    source, target = (there, here) if row["direction"] == Direction.IN else (here, there)
    raw = row["raw"]
    datagram = udp.UDP(sport=SOURCE_PORT, dport=PORTS.get(row["protocol"], UNKNOWN_PORT), data=raw)
    datagram.ulen = len(datagram)
    packet = ip.IP(src=source, dst=target, p=ip.IP_PROTO_UDP, data=datagram)
    return bytes(ethernet.Ethernet(src=_hardware(source), dst=_hardware(target), data=packet))


def _comment(row: dict[str, Any]) -> list[Any]:
    text = COMMENT_MARK + put_line({**row, "raw": b""}).rstrip()
    if len(text) > MAX_COMMENT_SIZE:
        return []
    return [
        pcapng.PcapngOptionLE(code=pcapng.PCAPNG_OPT_COMMENT, data=text),
        pcapng.PcapngOptionLE(),
    ]


def _address(name: str) -> bytes:
    """An IPv4 address of the private network 10.0.0.0/8."""
    return bytes([10]) + sha256(name.encode()).digest()[:3]


def _hardware(address: bytes) -> bytes:
    """A locally administered Ethernet address."""
    return b"\x02\x00" + address
