"""Packets, connections and savefiles for tests, made with dpkt and wsproto."""

from io import BytesIO
from typing import Any

from dpkt import ethernet, ip, ip6, pcap, pcapng, tcp, udp
from wsproto import WSConnection
from wsproto.connection import ConnectionType
from wsproto.events import AcceptConnection, BytesMessage, Request, TextMessage
from wsproto.extensions import PerMessageDeflate

CLIENT = bytes([192, 0, 2, 1])
SERVER = bytes([192, 0, 2, 2])
CLIENT6 = bytes.fromhex("20010db8000000000000000000000001")
SERVER6 = bytes.fromhex("20010db8000000000000000000000002")
CLIENT_PORT = 50_000
SERVER_PORT = 8090


def udp_ip(data: bytes, *, sport: int = 5000, dport: int = 4001, **changed: Any) -> bytes:
    """An IPv4 packet with a datagram from CLIENT to SERVER."""
    datagram = udp.UDP(sport=sport, dport=dport, data=data)
    datagram.ulen = len(datagram)
    packet = ip.IP(src=CLIENT, dst=SERVER, p=ip.IP_PROTO_UDP, data=datagram)
    for name, value in changed.items():
        setattr(packet, name, value)
    return bytes(packet)


def udp_ip6(data: bytes, *, sport: int = 5000, dport: int = 4001) -> bytes:
    """An IPv6 packet with a datagram."""
    datagram = udp.UDP(sport=sport, dport=dport, data=data)
    datagram.ulen = len(datagram)
    packet = ip6.IP6(
        src=CLIENT6, dst=SERVER6, nxt=ip.IP_PROTO_UDP, plen=len(datagram), data=datagram
    )
    return bytes(packet)


def on_ethernet(packet: bytes, kind: int = ethernet.ETH_TYPE_IP) -> bytes:
    return bytes(12) + kind.to_bytes(2, "big") + packet


def tcp_ip(from_client: bool, sequence: int, data: bytes, flags: int = tcp.TH_ACK) -> bytes:
    """An Ethernet packet with a segment of the connection between CLIENT and SERVER."""
    ends = [(CLIENT, CLIENT_PORT), (SERVER, SERVER_PORT)]
    (source, sport), (target, dport) = ends if from_client else ends[::-1]
    segment = tcp.TCP(sport=sport, dport=dport, seq=sequence % 2**32, flags=flags, data=data)
    packet = ip.IP(src=source, dst=target, p=ip.IP_PROTO_TCP, data=segment)
    return on_ethernet(bytes(packet))


class Talk:
    """A WebSocket connection: real ends, and all that they say, in order."""

    def __init__(self, path: str = "/hub", *, compressed: bool = False) -> None:
        self.said: list[tuple[bool, bytes]] = []
        self.client = WSConnection(ConnectionType.CLIENT)
        self.server = WSConnection(ConnectionType.SERVER)

        def extensions() -> list[Any]:
            return [PerMessageDeflate()] if compressed else []

        request = Request(host="hub.example", target=path, extensions=extensions())
        self._say(True, self.client.send(request))
        list(self.server.events())
        self._say(False, self.server.send(AcceptConnection(extensions=extensions())))
        list(self.client.events())

    def say(self, from_client: bool, data: str | bytes, *, finished: bool = True) -> None:
        """One message, or a part of one."""
        end = self.client if from_client else self.server
        kind = TextMessage if isinstance(data, str) else BytesMessage
        self._say(from_client, end.send(kind(data=data, message_finished=finished)))  # type: ignore[arg-type]

    def _say(self, from_client: bool, raw: bytes) -> None:
        self.said.append((from_client, raw))
        (self.server if from_client else self.client).receive_data(raw)

    def packets(self, *, size: int = 100, first: int = 1000) -> list[bytes]:
        """The connection as TCP segments of at most `size` bytes, SYNs first."""
        sequences = {True: first, False: first + 5000}
        found = [
            tcp_ip(True, sequences[True], b"", tcp.TH_SYN),
            tcp_ip(False, sequences[False], b"", tcp.TH_SYN | tcp.TH_ACK),
        ]
        for from_client, raw in self.said:
            for begin in range(0, len(raw), size):
                piece = raw[begin : begin + size]
                found.append(tcp_ip(from_client, sequences[from_client] + 1, piece))
                sequences[from_client] += len(piece)
        return found


def pcap_of(packets: list[bytes], *, linktype: int = pcap.DLT_EN10MB, nano: bool = False) -> bytes:
    """A pcap file; its packets are a second apart, from second 1000 on."""
    file = BytesIO()
    writer = pcap.Writer(file, linktype=linktype, nano=nano)
    for number, packet in enumerate(packets):
        writer.writepkt(packet, ts=1000 + number)
    return file.getvalue()


def pcapng_of(packets: list[bytes], *, linktype: int = pcap.DLT_EN10MB) -> bytes:
    """A pcapng file; its packets are a second apart, from second 1000 on."""
    file = BytesIO()
    writer = pcapng.Writer(file, linktype=linktype)
    for number, packet in enumerate(packets):
        writer.writepkt(packet, ts=1000 + number)
    return file.getvalue()
