"""The broker's notes are chunks that the codec reads."""

import pytest

from protocols.cthun.samples import SAMPLES, append_hop
from wireloom.protocols.cthun.broker.intake import NOTES_SIZE
from wireloom.protocols.cthun.broker.stamps import Stamps
from wireloom.protocols.cthun.codec import decode, encode
from wireloom.protocols.cthun.constants import BROKER_URI
from wireloom.protocols.cthun.messages import DebugChunk, Hop
from wireloom.protocols.cthun.times import text_of

NOW_MS = 1_430_136_000_123
STAGES = {
    "forwarded": ("accepted", "deliver"),
    "held": ("accepted", "accept-to-queue"),
    "redelivered": ("redelivery", "deliver"),
}


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("server", [BROKER_URI, "cth://b-1.example.com/server"])
@pytest.mark.parametrize("now_ms", [0, NOW_MS, 253_402_300_799_999])
def test_a_note_is_one_debug_chunk_with_its_stages(name: str, server: str, now_ms: int) -> None:
    raw = encode(SAMPLES["reserved bits and hops"])
    noted = decode(raw + getattr(Stamps(server).at(now_ms), name))
    time = text_of(now_ms)
    hops = tuple(Hop(server=server, stage=stage, time=time) for stage in STAGES[name])
    assert noted.debug_chunks == (*decode(raw).debug_chunks, DebugChunk(hops=hops))


def test_a_server_that_looks_like_a_time_is_left_alone() -> None:
    server = f"cth://{text_of(0)}/server"
    noted = decode(encode(SAMPLES["application without data"]) + Stamps(server).at(NOW_MS).held)
    assert {hop.server for hop in noted.hops} == {server}


def test_notes_are_made_once_a_millisecond() -> None:
    notes = Stamps(BROKER_URI)
    assert notes.at(NOW_MS) is notes.at(NOW_MS)
    assert notes.at(NOW_MS + 1) != notes.at(NOW_MS)


def test_a_note_has_the_bytes_of_the_codec() -> None:
    raw = encode(SAMPLES["application without data"])
    hop = Hop(server=BROKER_URI, stage="accepted", time=text_of(NOW_MS))
    one = append_hop(raw, hop)
    assert Stamps(BROKER_URI).at(NOW_MS).held[5:].startswith(one[len(raw) + 5 : -2])


def test_all_notes_on_one_message_fit_in_the_room_that_is_kept() -> None:
    stamps = Stamps(f"cth://{'n' * 1000}/server").at(NOW_MS)
    assert len(stamps.held) + len(stamps.redelivered) <= NOTES_SIZE
