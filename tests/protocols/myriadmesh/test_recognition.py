"""How MyriadMesh frames are recognised."""

import pytest

from protocols.myriadmesh.samples import SAMPLES
from wireloom.protocols.myriadmesh.codec import encode
from wireloom.protocols.myriadmesh.fragments import split
from wireloom.protocols.myriadmesh.recognition import RECOGNITION, Datagrams, begins
from wireloom.wire.recognition import Assembly

FRAME = max((encode(message) for message in SAMPLES.values()), key=len)


def test_four_bytes_decide() -> None:
    assert all(begins(encode(message)) for message in SAMPLES.values())
    assert begins(b"MYMS")
    assert not begins(b"MYM")
    assert RECOGNITION.chance == 2**-32


def test_all_datagrams_of_its_port_are_its_own() -> None:
    assert RECOGNITION.datagrams is Datagrams
    assert RECOGNITION.datagram_port == 4001


@pytest.mark.parametrize("raw", [FRAME, b"", b"MYMX", b"\0\1\5\3rest", bytes(500)])
def test_a_datagram_that_is_no_fragment_is_a_frame_even_if_damaged(raw: bytes) -> None:
    assert Datagrams().feed("peer", raw, now_ms=0) == Assembly(raw)


def test_fragments_become_a_frame() -> None:
    datagrams = Datagrams()
    packets = split(FRAME, fragment_id=7, mtu=60)
    *before, last = [datagrams.feed("peer", packet, now_ms=0) for packet in packets]
    assert {one.frame for one in before} == {None}
    assert last == Assembly(FRAME, len(packets))
