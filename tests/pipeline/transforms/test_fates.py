"""The strongest state with evidence wins; without any, the horizon decides."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.letters import BOB, START_MS, ack, connect, error, send, uuid
from support.spark import seen
from support.tables import rows
from wireloom.capture.record import Captured
from wireloom.pipeline.transforms.fates import TABLE, fates
from wireloom.pipeline.transforms.nodes import nodes

FRAMES: list[Captured] = [
    connect(),
    send(10),
    ack(11, 10, at=40),
    send(20),
    error(21, 20, at=5, code="timeout"),
    ack(22, 20, at=50),
    send(30),
    error(31, 30, at=5, code="unauthorized"),
    error(32, 30, at=4, code="timeout"),
    send(40),
    ack(41, 40, at=5, forged=True),
    send(50, ttl=60_000),
    ack(51, 50, at=5, status="queued"),
    send(60),
    error(61, 60, at=5, code="message_expired"),
    send(70, at=100),
]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[str, dict[str, Any]]:
    sightings = seen(spark, FRAMES)
    decided = fates(sightings, nodes(sightings), START_MS + 30_001)
    return {row["message_id"]: row for row in rows(TABLE, decided)}


def test_every_message_has_one_row(found: dict[str, dict[str, Any]]) -> None:
    assert set(found) == {uuid(number) for number in (10, 20, 30, 40, 50, 60, 70)}
    assert {row["destination"] for row in found.values()} == {BOB}
    assert {(row["type"], row["app_type"]) for row in found.values()} == {("hub:send", "greet")}


@pytest.mark.parametrize(
    ("number", "state", "reason"),
    [
        (10, "delivered", None),
        (20, "delivered", None),
        (30, "rejected", "unauthorized"),
        (40, "lost", None),
        (50, "in_flight", None),
        (60, "expired", None),
        (70, "lost", None),
    ],
)
def test_states(found: dict[str, dict[str, Any]], number: int, state: str, reason: str) -> None:
    row = found[uuid(number)]
    assert (row["state"], row["reason"]) == (state, reason)


def test_evidence_names_its_frame_and_its_time(found: dict[str, dict[str, Any]]) -> None:
    row = found[uuid(10)]
    assert (row["evidence_kind"], row["evidence_frame"]) == ("wire", "hub-1#2")
    assert (row["latency_ms"], row["skew_ms"]) == (40, 0)
    assert found[uuid(40)]["evidence_frame"] is None
    assert found[uuid(40)]["latency_ms"] is None
