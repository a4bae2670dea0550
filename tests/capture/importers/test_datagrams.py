"""Frames out of datagrams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.wire import CLIENT, SERVER
from support.cases import case
from wireloom.capture.importers.datagrams import DatagramFrame, Datagrams
from wireloom.capture.importers.packets import Datagram, SocketAddress
from wireloom.capture.refusal import ForeignError, UnreadableError
from wireloom.protocols.myriadmesh import fragments as lora
from wireloom.protocols.uep12 import packets as uep

MESH = max(case("myriadmesh").frames, key=len)
SWARM = case("uep12").frames[0]
LARGE = b"\x79" + bytes(3000)


def datagram(data: bytes, *, dport: int = 4001, sport: int = 5000) -> Datagram:
    return Datagram(SocketAddress(CLIENT, sport), SocketAddress(SERVER, dport), data)


def fed(
    packets: list[bytes], *, dport: int = 4001, step_ms: int = 10
) -> list[DatagramFrame | None]:
    datagrams = Datagrams()
    return [
        datagrams.feed(datagram(raw, dport=dport), now_ms=number * step_ms)
        for number, raw in enumerate(packets)
    ]


@pytest.mark.parametrize(("sport", "dport"), [(4001, 9999), (9999, 4001)])
def test_what_comes_by_the_port_of_myriadmesh_is_that(sport: int, dport: int) -> None:
    one = datagram(MESH, sport=sport, dport=dport)
    assert Datagrams().feed(one, now_ms=0) == DatagramFrame("myriadmesh", MESH)


@pytest.mark.parametrize("raw", [b"", b"MYMX", b"\0\1\5\3rest", bytes(500)])
def test_damage_on_that_port_is_kept_as_it_is(raw: bytes) -> None:
    assert fed([raw]) == [DatagramFrame("myriadmesh", raw)]


def test_lora_fragments_become_a_frame() -> None:
    packets = lora.split(MESH, fragment_id=7, mtu=60)
    assert len(packets) > 2
    *before, last = fed(packets[::-1])
    assert before == [None] * (len(packets) - 1)
    assert last == DatagramFrame("myriadmesh", MESH)


def test_fragments_that_never_become_a_frame_are_counted() -> None:
    datagrams = Datagrams()
    packets = lora.split(MESH, fragment_id=7, mtu=60)
    for raw in packets[:-1]:
        datagrams.feed(datagram(raw), now_ms=0)
    assert datagrams.waiting_count == len(packets) - 1
    datagrams.feed(datagram(packets[-1]), now_ms=0)
    assert datagrams.waiting_count == 0


def test_uep12_is_taken_on_any_port() -> None:
    assert fed([SWARM], dport=1) == [DatagramFrame("uep12", SWARM)]
    assert fed([b"\x79"], dport=1) == [DatagramFrame("uep12", b"\x79")]


@given(h=st.sampled_from([*range(32), *range(224, 256)]), d=st.integers(0, 255))
def test_a_masked_message_is_unmasked(h: int, d: int) -> None:
    assert fed([uep.mask(SWARM, h=h, d=d)], dport=1) == [DatagramFrame("uep12", SWARM)]


@pytest.mark.parametrize("masked", [False, True])
def test_uep7_fragments_become_a_message(masked: bool) -> None:
    packets = uep.split(LARGE)
    if masked:
        packets = [uep.mask(packet, h=5, d=6) for packet in packets]
    assert fed(packets, dport=1) == [None, None, DatagramFrame("uep12", LARGE)]


@pytest.mark.parametrize("raw", [b"", b"\x01", b"DNS query", bytes(50), b"\x05\x06" + bytes(50)])
def test_other_datagrams_are_of_others(raw: bytes) -> None:
    with pytest.raises(ForeignError):
        fed([raw], dport=53)


@pytest.mark.parametrize("raw", [b"\x66", b"\x66\x00" + bytes(20), b"\x66\x08" + bytes(1500)])
def test_a_damaged_fragment_is_refused(raw: bytes) -> None:
    with pytest.raises(UnreadableError):
        fed([raw], dport=1)


def test_a_masked_damaged_fragment_is_of_others() -> None:
    with pytest.raises(ForeignError):
        fed([uep.mask(b"\x66\x00" + bytes(20), h=5, d=6)], dport=1)


@given(st.binary(max_size=60), st.integers(0, 65535))
def test_any_datagram_gives_a_frame_or_a_reason(raw: bytes, port: int) -> None:
    try:
        fed([raw], dport=port)
    except (ForeignError, UnreadableError) as error:
        assert str(error)
