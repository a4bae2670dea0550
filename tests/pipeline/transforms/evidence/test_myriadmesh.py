"""What ACK and ERROR frames and outcomes prove about DATA."""

import pytest
from pyspark.sql import SparkSession

from support.evidence import claimed, decided
from support.nodes import (
    ANN,
    BOB,
    DAN,
    NOW_MS,
    TEXT,
    Node,
    captured,
    forged,
    frame,
    mesh_id,
)
from wireloom.protocols.myriadmesh.constants import AckType, ErrorCode, Flags
from wireloom.protocols.myriadmesh.messages import Ack, Error
from wireloom.wire.outcome import Outcome

HELLO = frame(1, ANN, BOB, TEXT)
SENT = captured("myriadmesh", HELLO, 0, ANN, "local")


def ack(kind: AckType, by: Node = BOB) -> bytes:
    said = Ack(original_message_id=(1).to_bytes(16, "big"), ack_type=kind)
    return frame(2, by, ANN, said, at=50, flags=Flags.ACK)


@pytest.mark.parametrize(
    ("proof", "state", "reason"),
    [
        (ack(AckType.RECEIVED), "delivered", None),
        (ack(AckType.DELIVERED), "delivered", None),
        (ack(AckType.DELIVERED, DAN), "lost", None),
        (ack(AckType.STORED), "lost", None),
        (ack(AckType.FAILED, DAN), "rejected", "no_route"),
        (forged(ack(AckType.RECEIVED)), "lost", None),
        (forged(ack(AckType.FAILED)), "lost", None),
    ],
)
def test_acks(spark: SparkSession, proof: bytes, state: str, reason: str | None) -> None:
    row = decided(spark, [SENT, captured("myriadmesh", proof, 60, "relay")])[mesh_id(1)]
    assert (row["state"], row["reason"]) == (state, reason)


def test_error_codes_become_reasons(spark: SparkSession) -> None:
    frames = []
    for code in ErrorCode:
        said = Error(error_code=code, original_message_id=(1).to_bytes(16, "big"))
        frames.append(captured("myriadmesh", frame(2 + code, BOB, ANN, said), code, "relay"))
    assert [row.reason for row in claimed(spark, frames)] == [
        "bad_signature",
        "decrypt_failed",
        "unknown_destination",
        "ttl_exceeded",
        "too_large",
        "unsupported_version",
        "rate_limited",
        "no_route",
    ]


def test_what_is_proven_false_proves_nothing_whatever_its_outcome(spark: SparkSession) -> None:
    frames = [
        captured("myriadmesh", raw, 60, "relay", outcome=Outcome.DELIVERED)
        for raw in (forged(ack(AckType.RECEIVED)), forged(HELLO))
    ]
    assert claimed(spark, frames) == []


@pytest.mark.parametrize(
    ("node", "outcome", "state", "reason"),
    [
        (BOB, Outcome.REJECTED, "rejected", "stale"),
        (DAN, Outcome.REJECTED, "lost", None),
        (BOB, Outcome.DELIVERED, "delivered", None),
        (DAN, Outcome.DELIVERED, "lost", None),
    ],
)
def test_a_node_speaks_for_itself(
    spark: SparkSession, node: Node, outcome: Outcome, state: str, reason: str | None
) -> None:
    refused = {"reason": "stale"} if outcome is Outcome.REJECTED else {}
    frames = [
        SENT,
        captured("myriadmesh", frame(9, node, None, TEXT), 0, node, "local"),
        captured("myriadmesh", HELLO, 60, node, outcome=outcome, **refused),
    ]
    row = decided(spark, frames)[mesh_id(1)]
    assert (row["state"], row["reason"]) == (state, reason)


@pytest.mark.parametrize(
    ("more", "seconds"),
    [
        ({}, 30),
        ({"link": "lora-1"}, 300),
        ({"link": "lora-1", "outcome": Outcome.QUEUED}, 3 * 24 * 3600),
    ],
)
def test_deadlines(spark: SparkSession, more: dict[str, str], seconds: int) -> None:
    row = decided(spark, [captured("myriadmesh", HELLO, 0, ANN, "out", **more)])[mesh_id(1)]
    assert row["deadline"].timestamp() * 1000 == NOW_MS + seconds * 1000
