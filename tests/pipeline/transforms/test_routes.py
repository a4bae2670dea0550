from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.fates import fate, fates_of
from support.nodes import (
    ANN,
    BOB,
    CID,
    DAN,
    KEYS,
    NOW_MS,
    TEXT,
    Node,
    bundle,
    bundle_id,
    captured,
    carried,
    frame,
    mesh_id,
)
from support.spark import seen
from support.tables import rows
from wireloom.capture.frame import CapturedFrame
from wireloom.pipeline.judged_tables import KEYS as JUDGED_KEYS
from wireloom.pipeline.transforms.nodes import nodes
from wireloom.pipeline.transforms.routes import TABLE, routes
from wireloom.pipeline.transforms.ways import ways
from wireloom.protocols.dtn.constants import Destination
from wireloom.protocols.dtn.integrity import sign
from wireloom.protocols.dtn.messages import Bundle, ControlMessage, DeliveryAck, HopAck
from wireloom.protocols.dtn.parts import DeliveryPathHop
from wireloom.protocols.myriadmesh.constants import AckType, Flags
from wireloom.protocols.myriadmesh.messages import Ack, Heartbeat

H3R5, H3R7 = 0x851E0C73FFFFFFF, 0x871E0C709FFFFFF


def letter(number: int) -> Bundle:
    return bundle(ANN, b"%d" % number, (Destination.USER, DAN.uid))


def receipt(made: Bundle, at: int, *path: Node, h3r7: int | None = H3R7) -> CapturedFrame:
    said = DeliveryAck(
        msg_id=bundle_id(made),
        to_uid=ANN.uid,
        from_uid=DAN.uid,
        delivered_at_ms=NOW_MS + at,
        ack_h3r5=H3R5,
        ack_h3r7=h3r7,
        path=tuple(DeliveryPathHop(node=node.key.public) for node in path) or None,
        sig=bytes(64),
    )
    signed = sign(said, DAN.key)
    assert isinstance(signed, ControlMessage)
    raw = carried(bundle(DAN, signed, (Destination.USER, ANN.uid), at), DAN)
    return captured("dtn", raw, at, DAN, "out")


def taken(made: Bundle, at: int, carrier: Node) -> CapturedFrame:
    said = HopAck(bundle_id=bundle_id(made), from_node=carrier.key.public, timestamp=NOW_MS + at)
    raw = carried(bundle(carrier, said, (Destination.NODE, ANN.key.public), at), carrier)
    return captured("dtn", raw, at, carrier, "local")


def sent(made: Bundle, at: int, peer: Node | str) -> CapturedFrame:
    return captured("dtn", carried(made, ANN), at, ANN, "out", peer=peer)


def ack(number: int, at: int) -> CapturedFrame:
    said = Ack(original_message_id=number.to_bytes(16, "big"), ack_type=AckType.DELIVERED)
    raw = frame(100 + number, DAN, ANN, said, at=at, flags=Flags.ACK)
    return captured("myriadmesh", raw, at, DAN, "out")


def hello(number: int, at: int, peer: Node | str) -> CapturedFrame:
    return captured("myriadmesh", frame(number, ANN, DAN, TEXT), at, ANN, "out", peer=peer)


FIRST, SECOND, THIRD, FOURTH, FIFTH = (letter(number) for number in range(5))
ALIVE = Heartbeat(sequence_number=1, uptime=1, load_average=0.0)
FRAMES = [
    captured("dtn", carried(FIRST), 0, ANN, "local"),
    sent(FIRST, 1, CID),
    receipt(FIRST, 100, ANN, BOB, DAN),
    captured("dtn", carried(SECOND), 0, ANN, "local"),
    taken(SECOND, 5, BOB),
    receipt(SECOND, 300, h3r7=None),
    captured("dtn", carried(THIRD), 0, ANN, "local"),
    sent(THIRD, 5, BOB),
    taken(THIRD, 6, BOB),
    sent(THIRD, 7, "a stranger"),
    captured("dtn", carried(FOURTH), 0, ANN, "local"),
    captured("dtn", carried(FIFTH, ANN), 5, BOB, "out", peer=CID),
    captured("myriadmesh", frame(50, ANN, None, ALIVE), 0, ANN, "local"),
    captured("myriadmesh", frame(51, BOB, None, ALIVE), 0, BOB, "local"),
    hello(1, 1, BOB),
    hello(1, 30, CID),
    ack(1, 40),
    hello(1, 50, BOB),
    hello(2, 1, BOB),
    hello(2, 2, CID),
    hello(3, 1, DAN),
    hello(4, 1, DAN),
]


def outcome(made: Bundle, proof: int | None) -> dict[str, Any]:
    state = "lost" if proof is None else "delivered"
    id_ = bundle_id(made).hex()
    return fate(FRAMES, "dtn", id_, state, proof, destination=DAN.uid.hex())


def in_mesh(
    number: int, state: str, proof: int | None, reason: str | None = None
) -> dict[str, Any]:
    id_, to = mesh_id(number), DAN.id.hex()
    return fate(FRAMES, "myriadmesh", id_, state, proof, destination=to, reason=reason)


FATES = [
    outcome(FIRST, 2),
    outcome(SECOND, 5),
    outcome(THIRD, None),
    outcome(FOURTH, None),
    outcome(FIFTH, None),
    in_mesh(1, "delivered", 16),
    in_mesh(2, "rejected", None, "no_route"),
    in_mesh(3, "rejected", None, "too_large"),
    in_mesh(4, "in_flight", None),
]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[tuple[str, str], dict[str, Any]]:
    sightings, known = seen(spark, FRAMES, KEYS), fates_of(spark, FATES)
    keys = spark.createDataFrame(
        [("dtn", node.uid.hex(), node.key.public.hex(), None) for node in (ANN, BOB, CID, DAN)],
        JUDGED_KEYS.schema,
    )
    table = rows(TABLE, routes(ways(sightings, nodes(sightings), known, keys)))
    assert {row["destination"] for row in table} == {DAN.uid.hex(), DAN.id.hex()}
    return {(row["protocol"], row["first_hop"]): row for row in table}


def test_a_receipt_s_path_credits_the_hop_that_carried_the_bundle(found: dict[Any, Any]) -> None:
    row = found["dtn", BOB.uid.hex()]
    assert (row["successes"], row["losses"], row["score"]) == (2, 1, 3 / 5)
    assert ("dtn", CID.uid.hex()) not in found, "it was tried, and another delivered"


def test_latencies_and_cells_come_from_the_receipts(found: dict[Any, Any]) -> None:
    row = found["dtn", BOB.uid.hex()]
    assert (row["latency_p50_ms"], row["latency_p90_ms"]) == (200, 280)
    assert row["h3r5_cells"] == ["851e0c73fffffff"]
    assert row["h3r7_cells"] == ["871e0c709ffffff"]


def test_a_loss_counts_against_every_hop_that_had_the_message(found: dict[Any, Any]) -> None:
    row = found["dtn", "a stranger"]
    assert (row["successes"], row["losses"], row["latency_p50_ms"]) == (0, 1, None)
    assert row["last_success_at"] is None


def test_a_mesh_credits_the_relay_that_was_tried_last(found: dict[Any, Any]) -> None:
    assert (found["myriadmesh", "cid"]["successes"], found["myriadmesh", "cid"]["losses"]) == (1, 1)
    row = found["myriadmesh", BOB.id.hex()]
    assert (row["successes"], row["losses"]) == (0, 1)


def test_a_message_whose_first_hop_nobody_saw_teaches_nothing(found: dict[Any, Any]) -> None:
    assert len(found) == 4
