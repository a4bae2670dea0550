"""A sighting makes the claim of the first row that it meets."""

from pyspark.sql import SparkSession

from support.evidence import claimed
from support.letters import ack, connect, send, uuid
from support.nodes import ANN, BOB, TEXT, captured, frame, mesh_id
from wireloom.pipeline.transforms.claims import CLAIMS, ENTITLED
from wireloom.pipeline.transforms.evidence import rules
from wireloom.pipeline.transforms.evidence.rows import ENTITLEMENTS
from wireloom.wire.outcome import Outcome


def test_what_meets_no_row_claims_nothing(spark: SparkSession) -> None:
    assert claimed(spark, [connect(), send(10), ack(11, 10, at=1, status="queued")]) == []


def test_a_claim_names_its_frame_its_kind_and_who_speaks(spark: SparkSession) -> None:
    frames = [
        captured("myriadmesh", frame(1, ANN, None, TEXT), 0, ANN, "local"),
        captured("myriadmesh", frame(2, BOB, ANN, TEXT), 5, ANN, outcome=Outcome.DELIVERED),
        ack(11, 10, at=10),
    ]
    word, told = claimed(spark, frames)
    assert (told.message_id, told.evidence_kind, told.evidence_frame) == (
        mesh_id(2),
        "witness",
        "ann#1",
    )
    assert (told.rule, told.voices) == ("hearer", [ANN.id.hex()])
    assert (word.message_id, word.evidence_kind, word.voices) == (uuid(10), "wire", [])


def test_every_protocol_and_every_entitlement_has_its_case() -> None:
    assert all(f"when '{name}' then case" in CLAIMS for name in rules())
    assert all(f"when '{one.name}' then" in ENTITLED for one in ENTITLEMENTS)
