"""The strongest state with evidence wins; without any, the horizon decides."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from support import nodes as people
from support.evidence import decided
from support.letters import BOB, START_MS, ack, connect, error, send, uuid
from support.nodes import ANN, CID, DAN, bundle, bundle_id, captured, carried, mesh_id
from support.spark import seen
from support.tables import rows
from wireloom.capture.frame import CapturedFrame
from wireloom.pipeline.transforms.fates import TABLE, fates
from wireloom.pipeline.transforms.nodes import nodes
from wireloom.protocols.dtn.constants import Destination
from wireloom.protocols.myriadmesh.messages import Heartbeat
from wireloom.wire.outcome import Outcome

FRAMES: list[CapturedFrame] = [
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


def witnessed(
    number: int, node: people.Node | str, outcome: Outcome, to: people.Node | None = people.BOB
) -> list[CapturedFrame]:
    """A message from Ann, and what a node that received it says."""
    raw = people.frame(number, ANN, to, people.TEXT)
    return [
        captured("myriadmesh", raw, 0, ANN, "local"),
        captured("myriadmesh", raw, 40, node, outcome=outcome),
    ]


def test_a_node_that_nobody_knows_speaks_for_the_destination(spark: SparkSession) -> None:
    letter = bundle(ANN, b"letter", (Destination.USER, CID.uid))
    found = decided(
        spark,
        [
            *witnessed(1, "unknown", Outcome.DELIVERED),
            *witnessed(2, "unknown", Outcome.ACKED),
            *witnessed(3, "unknown", Outcome.REJECTED),
            *witnessed(4, "unknown", Outcome.FORWARDED),
            *witnessed(5, "unknown", Outcome.ACKED, to=None),
            captured("dtn", carried(letter), 0, ANN, "local"),
            captured("dtn", carried(letter), 70, "unknown", outcome=Outcome.ACKED),
        ],
    )
    assert {id_: row["state"] for id_, row in found.items()} == {
        mesh_id(1): "delivered",
        mesh_id(2): "delivered",
        mesh_id(3): "lost",
        mesh_id(4): "lost",
        mesh_id(5): "lost",
        bundle_id(letter).hex(): "delivered",
    }
    assert {row["evidence_kind"] for row in found.values()} == {"witness", None}


def test_a_node_that_is_somebody_else_does_not(spark: SparkSession) -> None:
    letter = bundle(ANN, b"letter", (Destination.USER, CID.uid))
    beat = Heartbeat(sequence_number=0, uptime=1, load_average=0.0)
    from_dan = bundle(DAN, b"else", (Destination.USER, CID.uid))
    sent = people.frame(7, ANN, people.BOB, people.TEXT)
    found = decided(
        spark,
        [
            *witnessed(1, DAN, Outcome.DELIVERED),
            *witnessed(2, DAN, Outcome.ACKED),
            captured("myriadmesh", people.frame(9, DAN, None, beat), 0, DAN, "local"),
            captured("dtn", carried(from_dan), 0, DAN, "local"),
            captured("dtn", carried(letter), 0, ANN, "local"),
            captured("dtn", carried(letter), 70, DAN, outcome=Outcome.DELIVERED),
            captured("myriadmesh", sent, 0, "sender", "out", outcome=Outcome.ACKED),
        ],
    )
    assert {row["state"] for row in found.values()} == {"lost"}


def test_evidence_names_its_frame_and_its_time(found: dict[str, dict[str, Any]]) -> None:
    row = found[uuid(10)]
    assert (row["evidence_kind"], row["evidence_frame"]) == ("wire", "hub-1#2")
    assert (row["latency_ms"], row["skew_ms"]) == (40, 0)
    assert found[uuid(40)]["evidence_frame"] is None
    assert found[uuid(40)]["latency_ms"] is None
