"""What a protocol says about recognising its frames."""

from wireloom.wire.recognition import DISCARD_PORT, Assembly, Recognition, WholeDatagrams


def begins(raw: bytes) -> bool:
    return raw.startswith(b"X")


def test_a_datagram_that_begins_as_a_frame_is_one() -> None:
    datagrams = WholeDatagrams(begins)
    assert datagrams.feed("peer", b"X1", now_ms=0) == Assembly(b"X1", 1)
    assert datagrams.feed("peer", b"Y1", now_ms=0) is None


def test_a_protocol_is_looked_for_only_where_it_says_so() -> None:
    known = Recognition(begins=begins, chance=1 / 256)
    assert known.port == DISCARD_PORT
    assert known.web_paths == ()
    assert known.datagrams is None
