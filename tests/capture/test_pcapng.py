"""Captured frames for Wireshark."""

from io import BytesIO

import pytest
from dpkt import ethernet, pcapng

from capture.made import BARE, FULL, START, frame
from support.cases import ALL
from wireloom.capture.frame import CapturedFrame, rows, to_batch
from wireloom.capture.importers.packets import Datagram, dissect
from wireloom.capture.importers.savefiles import Packet, take_pcapng
from wireloom.capture.importers.traffic import Traffic
from wireloom.capture.pcapng import MAX_FRAME_SIZE, PORTS, PcapngWriter
from wireloom.wire.outcome import Direction


def exported(*frames: CapturedFrame) -> bytes:
    file = BytesIO()
    writer = PcapngWriter(file)
    for row in rows(to_batch(frames, first_sequence=0)):
        assert writer.write(row)
    return file.getvalue()


def packets(raw: bytes) -> list[Packet]:
    return [one for one in take_pcapng(BytesIO(raw)) if isinstance(one, Packet)]


def datagram(captured: CapturedFrame) -> Datagram:
    (packet,) = packets(exported(captured))
    found = dissect(packet.link_type, packet.data)
    assert isinstance(found, Datagram)
    return found


def test_all_that_is_known_of_a_frame_comes_back_by_import() -> None:
    frames = [frame(), FULL, BARE, frame(raw=b"\x4d\x58damaged"), frame(captured_at=-5)]
    frames += [
        frame(number, protocol=case.name, raw=raw, node=case.name, link=f"link-{number % 3}")
        for case in ALL
        for number, raw in enumerate(case.frames)
        if len(raw) <= MAX_FRAME_SIZE
    ]
    raw = exported(*frames)
    assert list(Traffic("other").take(take_pcapng(BytesIO(raw)))) == frames


def test_dpkt_reads_the_file_and_checksums_hold() -> None:
    (stamp, data), *_ = pcapng.Reader(BytesIO(exported(frame())))
    assert round(stamp * 1_000_000) == START
    packet = ethernet.Ethernet(data)
    assert packet.data.data.data == b"MYMS0"
    sums = packet.data.sum, packet.data.data.sum
    packet.data.sum = packet.data.data.sum = 0
    bytes(packet)
    assert (packet.data.sum, packet.data.data.sum) == sums


def test_each_link_is_an_interface_with_its_name() -> None:
    raw = exported(frame(link="udp"), frame(link="lora0"), frame(link="udp"))
    assert raw.count(b"udp\0") >= 1
    assert raw.count(b"\x01\x00\x00\x00\x24\x00\x00\x00") >= 1
    assert b"lora0" in raw


def test_frames_go_to_the_port_of_their_protocol() -> None:
    for protocol, port in PORTS.items():
        assert datagram(frame(protocol=protocol)).target.port == port
    assert PORTS["myriadmesh"] == 4001
    assert datagram(frame(protocol=None)).target.port == 9


def test_direction_tells_who_sent() -> None:
    incoming, outgoing = datagram(frame()), datagram(frame(direction=Direction.OUT))
    assert incoming.source.address == outgoing.target.address
    assert incoming.target.address == outgoing.source.address
    assert incoming.source.address != incoming.target.address
    assert incoming.source.address[0] == 10
    local = datagram(BARE)
    assert local.source.address == local.target.address


@pytest.mark.parametrize("peer", ["192.0.2.7:5005", "[2001:db8::7]:5005"])
def test_a_peer_that_is_known_by_its_address_keeps_it(peer: str) -> None:
    incoming = datagram(frame(peer=peer))
    outgoing = datagram(frame(peer=peer, direction=Direction.OUT))
    assert str(incoming.source) == str(outgoing.target) == peer
    assert incoming.target == outgoing.source
    assert incoming.target.port == PORTS["myriadmesh"]
    assert incoming.data == b"MYMS0"
    (_, data), *_ = pcapng.Reader(BytesIO(exported(frame(peer=peer))))
    packet = ethernet.Ethernet(data)
    told = packet.data.data.sum
    assert told
    packet.data.sum = packet.data.data.sum = 0
    bytes(packet)
    assert packet.data.data.sum == told


@pytest.mark.parametrize(
    "peer", ["192.0.2.7", "192.0.2.7:65536", "192.0.2.7:x", "a:1", ":1", "::1"]
)
def test_a_peer_that_is_called_otherwise_has_an_address_made_for_it(peer: str) -> None:
    assert datagram(frame(peer=peer)).source.address[0] == 10


def test_a_frame_that_fits_in_no_packet_is_left_out() -> None:
    file = BytesIO()
    writer = PcapngWriter(file)
    largest, larger = [frame(raw=bytes(MAX_FRAME_SIZE + extra)) for extra in (0, 1)]
    written = [writer.write(row) for row in rows(to_batch([largest, larger], first_sequence=0))]
    assert written == [True, False]
    (packet,) = packets(file.getvalue())
    found = dissect(packet.link_type, packet.data)
    assert isinstance(found, Datagram)
    assert len(found.data) == MAX_FRAME_SIZE


def test_a_frame_with_more_words_than_a_comment_holds_has_none() -> None:
    (packet,) = packets(exported(frame(peer="x" * 70_000)))
    assert packet.comment is None
