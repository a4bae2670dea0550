from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.hub_talk import heard, said
from support.nodes import ANN, BOB, CID, KEYS, TEXT, bundle, captured, carried, frame
from support.spark import seen
from support.tables import rows, stored
from wireloom.pipeline.transforms.crossings import TABLE as CROSSINGS
from wireloom.pipeline.transforms.crossings import crossings
from wireloom.pipeline.transforms.echoes import TABLE as ECHOES
from wireloom.pipeline.transforms.echoes import echoes
from wireloom.pipeline.transforms.links import TABLE, links
from wireloom.pipeline.transforms.nodes import nodes
from wireloom.protocols.dtn.codec import encode
from wireloom.protocols.dtn.constants import Destination
from wireloom.protocols.dtn.messages import LinkMetrics
from wireloom.protocols.myriadmesh.constants import TestType
from wireloom.protocols.myriadmesh.messages import TestRequest, TestResponse

LATER = 300_000
ONE, TWO, THREE = (frame(number, ANN, BOB, TEXT) for number in (1, 2, 3))
TEST = frame(4, ANN, BOB, TestRequest(test_type=TestType.PING, test_id=bytes(8), test_payload=b""))
ECHO = frame(5, BOB, ANN, TestResponse(test_id=bytes(8), echo_payload=b""))


def metrics(queue: int, score: float) -> LinkMetrics:
    return LinkMetrics(
        cluster_tag=bytes(32), gateway_score=score, queue_length=queue, delta_in=1, delta_out=1
    )


def told(queue: int, score: float, at: int) -> Any:
    made = bundle(CID, metrics(queue, score), (Destination.NODE, ANN.key.public), at)
    return captured("dtn", carried(made, CID), at, ANN, peer=CID)


OVER: dict[str, Any] = {"peer": BOB, "link": "lora0"}
BACK: dict[str, Any] = {"peer": ANN, "link": "lora0"}
FRAMES = [
    captured("myriadmesh", ONE, 0, ANN, "local"),
    captured("myriadmesh", ONE, 1, ANN, "out", **OVER),
    captured("myriadmesh", ONE, 50, ANN, "out", **OVER),
    captured("myriadmesh", ONE, 2, BOB, **BACK),
    captured("myriadmesh", TWO, 3, ANN, "out", **OVER),
    captured("myriadmesh", TWO, 4, BOB, **BACK),
    captured("myriadmesh", TWO, 9, BOB, **BACK),
    captured("myriadmesh", THREE, LATER, ANN, "out", **OVER),
    captured("myriadmesh", THREE, LATER + 1, ANN, "out", peer=CID),
    captured("myriadmesh", TEST, 100, ANN, "out", **OVER),
    captured("myriadmesh", TEST, 105, BOB, **BACK),
    captured("myriadmesh", ECHO, 111, BOB, "out", **BACK),
    captured("myriadmesh", ECHO, 150, ANN, **OVER),
    told(7, 0.5, 1_000),
    told(3, 0.25, 900),
    captured("dtn", encode(metrics(99, 1.0)), 2_000, ANN, peer=CID),
    heard(said("hub:queue_stats_response", 1, at=0), 0, "out"),
]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[tuple[Any, ...], dict[str, Any]]:
    sightings = seen(spark, FRAMES, KEYS)
    crossed = stored(CROSSINGS, crossings(sightings, nodes(sightings)))
    table = rows(TABLE, links(crossed, stored(ECHOES, echoes(sightings))))
    first = min(row["bucket"] for row in table)
    return {(row["node"], row["peer"], row["link"], row["bucket"] == first): row for row in table}


def test_frames_are_counted_by_link_and_five_minutes(found: dict[Any, Any]) -> None:
    assert set(found) == {
        ("ann", "bob", "lora0", True),
        ("ann", "bob", "lora0", False),
        ("ann", "cid", "udp", True),
        ("ann", "cid", "udp", False),
        ("bob", "ann", "lora0", True),
        ("hub-1", "ui", "ws", True),
    }
    row = found["ann", "bob", "lora0", True]
    assert (row["frames_in"], row["frames_out"]) == (1, 4)
    assert (row["bytes_in"], row["bytes_out"]) == (len(ECHO), 3 * len(ONE) + len(TEST))


def test_a_frame_that_comes_again_is_a_duplicate(found: dict[Any, Any]) -> None:
    row = found["bob", "ann", "lora0", True]
    assert (row["frames_in"], row["duplicates"]) == (4, 1)


def test_what_the_peer_did_not_capture_is_lost(found: dict[Any, Any]) -> None:
    assert found["ann", "bob", "lora0", True]["loss_share"] == 1 / 4
    assert found["ann", "bob", "lora0", False]["loss_share"] == 1
    assert found["ann", "cid", "udp", False]["loss_share"] is None, "cid captures nothing"


def test_a_test_gives_the_round_trip_and_the_time_of_the_answer(found: dict[Any, Any]) -> None:
    row = found["ann", "bob", "lora0", True]
    assert (row["round_trips"], row["rtt_p50_ms"], row["rtt_max_ms"]) == (1, 50, 50)
    assert found["bob", "ann", "lora0", True]["answer_p50_ms"] == 6
    assert found["ann", "cid", "udp", True]["rtt_p50_ms"] is None


def test_the_last_metrics_that_are_signed_count(found: dict[Any, Any]) -> None:
    row = found["ann", "cid", "udp", True]
    assert (row["queue_length"], row["gateway_score"]) == (7, 0.5)
    assert found["hub-1", "ui", "ws", True]["queue_length"] == 17


def test_airtime_is_estimated_for_lora_only(found: dict[Any, Any]) -> None:
    row = found["ann", "bob", "lora0", True]
    assert 4 * 200 < row["airtime_out_ms"] < row["airtime_ms"] < 5 * 350
    assert found["bob", "ann", "lora0", True]["airtime_ms"] > 0
    assert found["ann", "cid", "udp", True]["airtime_ms"] is None
