from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.hub_talk import heard, said
from support.nodes import ANN, BOB, CID, KEYS, NOW_MS, captured, forged, frame
from support.spark import seen
from wireloom.pipeline.transforms.echoes import echoes
from wireloom.protocols.myriadmesh.constants import Command, TestType
from wireloom.protocols.myriadmesh.messages import Control, TestRequest, TestResponse

TEST = frame(
    1, ANN, BOB, TestRequest(test_type=TestType.PING, test_id=b"12345678", test_payload=b"x")
)
ECHO = frame(2, BOB, ANN, TestResponse(test_id=b"12345678", echo_payload=b"x"))
PING = Control(command=Command.PING, parameters=b"p")
PONG = Control(command=Command.PONG, parameters=b"p")
FRAMES = [
    captured("myriadmesh", TEST, 0, ANN, "local"),
    captured("myriadmesh", TEST, 1, ANN, "out", peer=CID, link="lora0"),
    captured("myriadmesh", TEST, 5, CID, peer=ANN),
    captured("myriadmesh", TEST, 6, CID, "out", peer=BOB),
    captured("myriadmesh", TEST, 10, BOB, peer=CID),
    captured("myriadmesh", ECHO, 17, BOB, "out", peer=CID),
    captured("myriadmesh", ECHO, 20, CID, peer=BOB),
    captured("myriadmesh", ECHO, 21, CID, "out", peer=ANN),
    captured("myriadmesh", ECHO, 41, ANN, peer=CID),
    captured("myriadmesh", ECHO, 99, ANN, peer=CID),
    captured("myriadmesh", frame(3, BOB, ANN, PING), 100, BOB, "out", peer=ANN),
    captured("myriadmesh", forged(frame(4, ANN, BOB, PONG)), 102, BOB, peer=ANN),
    captured("myriadmesh", frame(5, ANN, BOB, PONG), 108, BOB, peer=ANN),
    captured("myriadmesh", frame(6, BOB, ANN, PING), 200, BOB, "out", peer=ANN),
    heard(said("hub:heartbeat", 7, at=0, payload={"timestamp": NOW_MS}), 0, peer="ui"),
    heard(said("hub:heartbeat", 8, at=0, payload={"timestamp": NOW_MS}), 1, peer="worker"),
    heard(said("hub:heartbeat_ack", 9, at=3, payload={"timestamp": NOW_MS}), 3, "out", peer="ui"),
]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[tuple[str, bool], Any]:
    rows = echoes(seen(spark, FRAMES, KEYS)).collect()
    assert len(rows) == len({(row.node, row.round_trip) for row in rows})
    return {(row.node, row.round_trip): row for row in rows}


def test_a_round_trip_is_measured_where_the_request_was_made(found: dict[Any, Any]) -> None:
    row = found["ann", True]
    assert (row.peer, row.link, row.ms) == ("cid", "lora0", 40)


def test_an_answer_is_timed_where_it_was_made(found: dict[Any, Any]) -> None:
    assert found["bob", False].ms == 7
    assert (found["hub-1", False].peer, found["hub-1", False].ms) == ("ui", 3)


def test_a_relay_measures_nothing(found: dict[Any, Any]) -> None:
    assert not [node for node, _ in found if node == "cid"]


def test_a_forged_answer_answers_nothing(found: dict[Any, Any]) -> None:
    assert found["bob", True].ms == 8


def test_nothing_else_is_measured(found: dict[Any, Any]) -> None:
    assert len(found) == 4
