from typing import Any

import pytest
from pyspark.sql import SparkSession

from protocols.cthun.samples import CONTROLLER, GREETING, HOP
from support.hub_talk import heard, said
from support.nodes import ANN, BOB, CID, KEYS, NOW_MS, TEXT, captured, forged, frame
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.clock_readings import clock_readings
from wireloom.pipeline.transforms.clocks import TABLE, clocks
from wireloom.protocols.cthun.codec import encode
from wireloom.protocols.cthun.messages import DebugChunk, Packet
from wireloom.protocols.cthun.times import millis

MIDWAY = frame(2, ANN, BOB, TEXT, at=1000, ttl=9)
HELLO = Packet(envelope=GREETING, data=b"hi", debug_chunks=(DebugChunk(hops=(HOP,)),))
FRAMES = [
    captured("myriadmesh", frame(1, ANN, BOB, TEXT, at=500), 530, ANN, "out"),
    captured("myriadmesh", frame(1, ANN, BOB, TEXT, at=500), 900, BOB),
    captured("myriadmesh", MIDWAY, 940, BOB),
    captured("myriadmesh", frame(3, ANN, BOB, TEXT, at=2000, ttl=7), 9_000, CID),
    captured("myriadmesh", frame(4, ANN, BOB, TEXT, at=3000), 3_050, BOB),
    captured("myriadmesh", forged(frame(5, ANN, BOB, TEXT, at=99_000)), 100, BOB),
    captured("cthun", encode(Packet(envelope=GREETING, data=b"hi")), 0, "broker-1"),
    captured("cthun", encode(HELLO), 10, "broker-1", "out"),
    heard(said("hub:heartbeat", 1, at=2**63 - 1 - NOW_MS), 0),
]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[tuple[str, str], dict[str, Any]]:
    table = rows(TABLE, clocks(clock_readings(seen(spark, FRAMES, KEYS))))
    return {(row["protocol"], row["source"]): row for row in table}


def test_a_clock_is_measured_by_the_first_sighting_near_its_owner(
    found: dict[tuple[str, str], Any],
) -> None:
    row = found["myriadmesh", ANN.id.hex()]
    assert (row["messages"], row["p50_ms"]) == (3, 30)
    assert (row["min_ms"], row["max_ms"]) == (-60, 50)


def test_negative_latency_is_counted(found: dict[tuple[str, str], Any]) -> None:
    row = found["myriadmesh", ANN.id.hex()]
    assert (row["negative"], row["ahead_ms"]) == (1, 60)


def test_a_broker_answers_for_its_own_clock(found: dict[tuple[str, str], Any]) -> None:
    row = found["cthun", HOP.server]
    assert row["min_ms"] == NOW_MS - millis(HOP.time)
    assert ("cthun", CONTROLLER) not in found


def test_a_time_beyond_all_calendars_is_far_ahead(found: dict[tuple[str, str], Any]) -> None:
    assert found["signalhub", "@(browser/client-ui)"]["ahead_ms"] == 2**63 - 1 - NOW_MS
