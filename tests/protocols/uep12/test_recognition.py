"""How UEP-12 messages are recognised."""

import pytest

from protocols.uep12.samples import SAMPLES
from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.packets import mask, split
from wireloom.protocols.uep12.recognition import RECOGNITION, Datagrams, begins
from wireloom.wire.errors import MalformedError
from wireloom.wire.recognition import Assembly

MESSAGE = encode(SAMPLES["CONTENT"])
LARGE = b"\x79" + bytes(3000)


def test_one_byte_decides() -> None:
    assert all(begins(encode(message)) for message in SAMPLES.values())
    assert begins(b"\x79")
    assert not begins(b"")
    assert not begins(b"\x78\x79")
    assert RECOGNITION.chance == 1 / 256


def test_it_is_looked_for_on_any_port() -> None:
    assert RECOGNITION.datagrams is Datagrams
    assert RECOGNITION.datagram_port is None


@pytest.mark.parametrize("raw", [MESSAGE, mask(MESSAGE, h=5, d=6)])
def test_a_message_is_found_with_and_without_a_mask(raw: bytes) -> None:
    assert Datagrams().feed("peer", raw, now_ms=0) == Assembly(MESSAGE)


def test_fragments_become_a_message() -> None:
    datagrams = Datagrams()
    fed = [datagrams.feed("peer", packet, now_ms=0) for packet in split(LARGE)]
    assert fed == [Assembly(None, 3), Assembly(None, 3), Assembly(LARGE, 3)]


@pytest.mark.parametrize("raw", [b"", b"\x01", b"\x1f", bytes(50), mask(b"\x66\x00", h=5, d=6)])
def test_other_datagrams_are_not_its_own(raw: bytes) -> None:
    assert Datagrams().feed("peer", raw, now_ms=0) is None


def test_a_damaged_fragment_is_an_error() -> None:
    with pytest.raises(MalformedError, match="a damaged UEP-7 fragment"):
        Datagrams().feed("peer", b"\x66\x00" + bytes(20), now_ms=0)
