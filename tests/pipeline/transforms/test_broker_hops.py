from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import UNSET
from pyspark.sql import SparkSession

from protocols.cthun.samples import AGENT, CONTROLLER, GREETING, ID
from support.nodes import captured
from support.spark import seen
from support.tables import rows
from wireloom.capture.frame import CapturedFrame
from wireloom.pipeline.transforms.broker_hops import TABLE, broker_hops
from wireloom.protocols.cthun.codec import encode
from wireloom.protocols.cthun.messages import DebugChunk, Hop, Packet

SERVER = "cth://broker-1/server"
OTHER = "cth://agent-2.example.com/agent"
NOTES = (
    ("accepted", "2015-04-27T12:00:00.120Z"),
    ("accept-to-queue", "2015-04-27T14:00:00.123456789+02:00"),
    ("deliver", "2015-04-27T12:00:01Z"),
    (None, "2015-04-27T12:00:00Z"),
)


def noted(count: int, at: int, direction: str, peer: str) -> CapturedFrame:
    hops = [Hop(server=SERVER, stage=stage or UNSET, time=time) for stage, time in NOTES[:count]]
    chunks = tuple(DebugChunk(hops=(hop,)) for hop in hops)
    raw = encode(Packet(envelope=GREETING, data=b"hi", debug_chunks=chunks))
    return captured("cthun", raw, at, "broker-1", direction, peer=peer, link="ws")


FRAMES = [
    noted(0, 0, "in", CONTROLLER),
    noted(2, 1, "out", AGENT),
    noted(4, 2, "out", AGENT),
    noted(3, 3, "out", OTHER),
]


@pytest.fixture(scope="module")
def hops(spark: SparkSession) -> dict[tuple[str, int], dict[str, Any]]:
    found = rows(TABLE, broker_hops(seen(spark, FRAMES)))
    assert {row["message_id"] for row in found} == {ID}
    return {(row["destination"], row["step"]): row for row in found}


def test_every_note_of_every_copy_has_a_row(hops: dict[tuple[str, int], Any]) -> None:
    assert set(hops) == {*((AGENT, n) for n in (1, 2, 3, 4)), *((OTHER, n) for n in (1, 2, 3))}
    assert [hops[AGENT, step]["stage"] for step in (1, 2, 3, 4)] == [stage for stage, _ in NOTES]


def test_a_time_in_any_zone_and_precision_is_read(hops: dict[tuple[str, int], Any]) -> None:
    at = hops[AGENT, 2]["at"].astimezone(UTC)
    assert at == datetime(2015, 4, 27, 12, 0, 0, 123_456, tzinfo=UTC)


def test_a_stage_lasts_until_the_next_note(hops: dict[tuple[str, int], Any]) -> None:
    assert [hops[OTHER, step]["dwell_ms"] for step in (1, 2, 3)] == [3, 877, None]


def test_a_note_before_the_last_one_makes_no_negative_stay(
    hops: dict[tuple[str, int], Any],
) -> None:
    assert hops[AGENT, 3]["dwell_ms"] == 0
