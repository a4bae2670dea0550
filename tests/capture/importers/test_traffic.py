"""From packets to captured frames."""

import random
from io import BytesIO

import pytest
from dpkt import ip, tcp

from capture.made import FULL
from capture.wire import (
    CLIENT,
    SERVER,
    Talk,
    on_ethernet,
    pcap_of,
    pcapng_of,
    tcp_ip,
    udp_ip,
    udp_ip6,
)
from support.cases import case
from wireloom.capture.frame import CapturedFrame, rows, to_batch
from wireloom.capture.importers import traffic
from wireloom.capture.importers.savefiles import Packet, take_pcap, take_pcapng
from wireloom.capture.importers.traffic import Traffic
from wireloom.capture.jsonl import put_line
from wireloom.capture.refusal import Refusal
from wireloom.protocols.myriadmesh import fragments as lora
from wireloom.protocols.signalhub.codec import encode_msgpack
from wireloom.wire.outcome import Direction

MESH = max(case("myriadmesh").frames, key=len)
SWARM = case("uep12").frames[0]
CTHUN = case("cthun").frames
HUB = [raw for raw in case("signalhub").frames if raw.startswith(b"{")]
PACKED = encode_msgpack(next(iter(case("signalhub").samples.values())))


def taken(packets: list[bytes]) -> list[CapturedFrame | Refusal]:
    return list(Traffic("probe").take(take_pcap(BytesIO(pcap_of(packets)))))


def frames(packets: list[bytes]) -> list[tuple[str | None, bytes]]:
    return [(one.protocol, one.raw) for one in taken(packets) if isinstance(one, CapturedFrame)]


def reasons(packets: list[bytes]) -> list[str]:
    return [one.reason for one in taken(packets) if isinstance(one, Refusal)]


def talked(path: str = "/hub", *, compressed: bool = False) -> Talk:
    talk = Talk(path, compressed=compressed)
    for number, raw in enumerate(HUB[:6]):
        talk.say(number % 2 == 0, raw.decode())
    return talk


def test_a_datagram_in_full() -> None:
    assert taken([on_ethernet(udp_ip(MESH))]) == [
        CapturedFrame(
            captured_at=1_000_000_000,
            node="probe",
            protocol="myriadmesh",
            link="udp",
            direction=Direction.IN,
            raw=MESH,
            peer="192.0.2.1:5000",
        )
    ]


def test_datagrams_of_both_protocols_by_both_kinds_of_file() -> None:
    packets = [udp_ip(MESH), udp_ip6(SWARM, dport=7777)]
    packets += [udp_ip(piece) for piece in lora.split(MESH, fragment_id=3, mtu=90)]
    expected = [("myriadmesh", MESH), ("uep12", SWARM), ("myriadmesh", MESH)]
    for raw, take in (
        (pcap_of(packets, linktype=101), take_pcap),
        (pcapng_of(packets, linktype=101), take_pcapng),
    ):
        found = list(Traffic("probe").take(take(BytesIO(raw))))
        assert [
            (one.protocol, one.raw) for one in found if isinstance(one, CapturedFrame)
        ] == expected
        assert len(found) == 3


@pytest.mark.parametrize("compressed", [False, True])
def test_a_hub_connection_gives_its_messages_in_order(compressed: bool) -> None:
    found = taken(talked(compressed=compressed).packets())
    assert [one.raw for one in found if isinstance(one, CapturedFrame)] == HUB[:6]
    assert {(one.protocol, one.link) for one in found if isinstance(one, CapturedFrame)} == {
        ("signalhub", "tcp")
    }
    assert [one.peer for one in found if isinstance(one, CapturedFrame)] == [
        "192.0.2.1:50000",
        "192.0.2.2:8090",
    ] * 3


def test_messages_bear_the_time_of_the_packet_that_completed_them() -> None:
    talk = Talk("/hub")
    talk.say(True, HUB[0].decode())
    packets = talk.packets()
    (found,) = taken(packets)
    assert isinstance(found, CapturedFrame)
    assert found.captured_at == (999 + len(packets)) * 1_000_000


def test_a_broker_connection_gives_cthun() -> None:
    for path in ("/cthun/", "/pcp", "/anything"):
        talk = Talk(path)
        for number, raw in enumerate(CTHUN[:4]):
            talk.say(number % 2 == 0, raw)
        assert frames(talk.packets()) == [("cthun", raw) for raw in CTHUN[:4]]


@pytest.mark.parametrize(
    ("path", "message", "protocol"),
    [
        ("/hub", "not JSON", "signalhub"),
        ("/hub/", PACKED, "signalhub"),
        ("/other", '{"some": "JSON"}', "signalhub"),
        ("/other", PACKED, "signalhub"),
        ("/cthun/", b"\xffdamaged", "cthun"),
        ("/other", "not JSON", None),
        ("/other", b"\xffdamaged", None),
    ],
)
def test_path_and_bytes_tell_what_a_message_is(
    path: str, message: str | bytes, protocol: str | None
) -> None:
    talk = Talk(path)
    talk.say(True, message)
    found = taken(talk.packets())
    if protocol is None:
        (refused,) = found
        assert isinstance(refused, Refusal)
        assert refused.is_foreign
    else:
        assert [one.protocol for one in found if isinstance(one, CapturedFrame)] == [protocol]


def test_segments_out_of_order_repeated_and_overlapping_change_nothing() -> None:
    packets = talked().packets(size=60, first=2**32 - 300)
    source = random.Random(2)
    for _ in range(20):
        shuffled = packets[:2]
        for begin in range(2, len(packets), 5):
            few = packets[begin : begin + 5] + source.choices(packets[2 : begin + 5], k=2)
            source.shuffle(few)
            shuffled += few
        assert sorted(raw for _, raw in frames(shuffled)) == sorted(HUB[:6])


def test_a_connection_whose_opening_was_not_captured_is_followed() -> None:
    assert [raw for _, raw in frames(talked().packets()[1:])] == HUB[:6]
    assert [raw for _, raw in frames(talked().packets()[2:])] == HUB[:6]


def test_a_server_that_is_heard_first_is_known_by_its_words() -> None:
    packets = talked().packets(size=5000)[2:]
    packets[0], packets[1] = packets[1], packets[0]
    assert [raw for _, raw in frames(packets)] == HUB[:6]


def test_another_connection_between_the_same_ports_is_another() -> None:
    packets = talked().packets() + talked().packets(first=900_000)
    assert [raw for _, raw in frames(packets)] == HUB[:6] * 2


def test_an_opening_that_is_sent_again_is_no_other_connection() -> None:
    packets = talked().packets()
    assert [raw for _, raw in frames([*packets[:9], packets[0], *packets[9:]])] == HUB[:6]


def test_a_gap_is_told_and_what_came_before_is_kept() -> None:
    packets = talked().packets(size=5000)
    del packets[6]
    assert [raw for _, raw in frames(packets)] == [HUB[0], HUB[1], HUB[3], HUB[5]]
    assert reasons(packets) == ["a TCP connection with a gap"]


def test_a_connection_that_cannot_be_followed_is_told_once() -> None:
    talk = Talk("/hub")
    talk.said.append((False, b"\xff" * 10))
    talk.said += [(False, b"more"), (True, b"and more")]
    assert len(reasons(talk.packets())) == 1


def test_connections_that_are_no_websocket_are_of_others() -> None:
    packets = [
        tcp_ip(True, 5, b"\x16\x03\x01"),
        tcp_ip(False, 5, b"\x16\x03"),
        tcp_ip(True, 8, b"x"),
    ]
    found = taken(packets)
    assert found == [Refusal("packet 1", "no WebSocket handshake", is_foreign=True)]


def test_few_connections_are_followed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "MAX_CONNECTIONS", 1)
    packets = talked().packets()
    segment = tcp.TCP(sport=1, dport=2, data=b"GET ")
    other = on_ethernet(bytes(ip.IP(src=CLIENT, dst=SERVER, p=6, data=segment)))
    assert [raw for _, raw in frames([*packets, other])] == HUB[:6]
    assert frames([*packets[:5], other, *packets[5:]]) == []


def test_other_traffic_is_passed_over_with_a_reason() -> None:
    found = taken(
        [on_ethernet(bytes(28), 0x0806), on_ethernet(udp_ip(b"query", dport=53)), b"junk"]
    )
    assert found == [
        Refusal("packet 1", "neither UDP nor TCP", is_foreign=True),
        Refusal("packet 2", "a datagram of another protocol", is_foreign=True),
        Refusal("packet 3", "a damaged packet"),
    ]


def test_fragments_without_their_others_are_told_at_the_end() -> None:
    pieces = lora.split(MESH, fragment_id=3, mtu=90)[:-1]
    found = taken([on_ethernet(udp_ip(piece)) for piece in pieces])
    assert found == [Refusal("end of file", "a fragment whose others are missing")] * len(pieces)


def test_what_the_file_refuses_is_passed_on() -> None:
    refusal = Refusal("packet 9", "anything")
    assert list(Traffic("probe").take([refusal])) == [refusal]


def test_an_exported_packet_is_taken_at_its_word() -> None:
    row = next(rows(to_batch([FULL], first_sequence=0)))
    comment = b"wireloom " + put_line({**row, "raw": b""})
    packet = Packet(1, 5, 101, udp_ip(FULL.raw, dport=9), comment)
    assert list(Traffic("probe").take([packet])) == [FULL]


def test_an_exported_packet_with_a_damaged_comment_is_refused() -> None:
    packet = Packet(1, 5, 101, udp_ip(b"x", dport=9), b"wireloom {")
    (refused,) = Traffic("probe").take([packet])
    assert isinstance(refused, Refusal)
    assert refused.reason == "a damaged comment"


def test_another_tools_comment_is_passed_over() -> None:
    packet = Packet(1, 5, 101, udp_ip(MESH), b"interesting!")
    (found,) = Traffic("probe").take([packet])
    assert isinstance(found, CapturedFrame)
    assert found.node == "probe"
