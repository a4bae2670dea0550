from typing import Any

import pytest
from pyspark.sql import SparkSession

from protocols.signalhub.samples import WIDGET
from support.fates import fate, fates_of
from support.hub_talk import heard, said, uuid
from support.nodes import (
    ANN,
    BOB,
    CID,
    KEYS,
    NOW_MS,
    TEXT,
    bundle,
    bundle_id,
    captured,
    carried,
    frame,
    mesh_id,
)
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.deliveries import TABLE, deliveries
from wireloom.protocols.dtn.constants import Destination
from wireloom.protocols.dtn.integrity import sign
from wireloom.protocols.dtn.messages import ControlMessage, DeliveryAck
from wireloom.protocols.myriadmesh.constants import AckType, Flags
from wireloom.protocols.myriadmesh.messages import Ack
from wireloom.wire.outcome import Outcome

LETTER = bundle(ANN, b"letter", (Destination.USER, CID.uid))


def receipt() -> bytes:
    said = DeliveryAck(
        msg_id=bundle_id(LETTER),
        to_uid=ANN.uid,
        from_uid=CID.uid,
        delivered_at_ms=NOW_MS + 70,
        hop_count=2**32 - 1,
        latency_ms=-5,
        transport_hint="lora",
        sig=bytes(64),
    )
    signed = sign(said, CID.key)
    assert isinstance(signed, ControlMessage)
    return carried(bundle(CID, signed, (Destination.USER, ANN.uid), 80), CID)


HELLO = frame(1, ANN, BOB, TEXT, at=10)
RECEIVED = Ack(original_message_id=(1).to_bytes(16, "big"), ack_type=AckType.RECEIVED)
ACK = frame(2, BOB, ANN, RECEIVED, at=50, flags=Flags.ACK)
TO_ALL = frame(3, ANN, None, TEXT)
RECEIPT = receipt()
PUBLISHED = said("hub:published", 11, at=5, about=10, payload={"subscriber_count": 1})
BROADCASTED = said("hub:broadcast_ack", 21, at=5, about=20)
SENT = said("hub:delivery_ack", 31, at=9, about=30)
FORWARDED = said("application", 41, at=9, metadata={"originalMessageId": uuid(40)})
PUBLISH, BROADCAST = said("hub:publish", 10, at=0), said("hub:broadcast", 20, at=0)
FRAMES = [
    captured("myriadmesh", HELLO, 10, ANN, "local"),
    captured("myriadmesh", HELLO, 11, ANN, "out", peer=BOB),
    captured("myriadmesh", HELLO, 31, ANN, "out", peer=BOB),
    captured("myriadmesh", HELLO, 35, BOB, peer=ANN),
    captured("myriadmesh", ACK, 60, BOB, "out", peer=ANN),
    captured("myriadmesh", frame(4, ANN, BOB, TEXT), 10, ANN, "local"),
    captured("myriadmesh", TO_ALL, 0, ANN, "local"),
    captured("myriadmesh", TO_ALL, 5, BOB, outcome=Outcome.DELIVERED),
    captured("myriadmesh", TO_ALL, 6, CID, outcome=Outcome.DELIVERED),
    captured("myriadmesh", TO_ALL, 7, CID, outcome=Outcome.DUPLICATE),
    captured("dtn", carried(LETTER), 0, ANN, "local"),
    captured("dtn", RECEIPT, 90, CID, "out"),
    heard(PUBLISH, 0),
    heard(PUBLISHED, 5, "out"),
    *[
        heard(
            said("application", 12 + n, at=6, to=to, metadata={"originalMessageId": uuid(10)}),
            6,
            "out",
        )
        for n, to in enumerate(("@(a/b)", "@(a/c)"))
    ],
    heard(BROADCAST, 0),
    heard(BROADCASTED, 5, "out"),
    heard(said("hub:send", 30, at=0), 0),
    heard(SENT, 9, "out"),
    heard(FORWARDED, 9, "out"),
]


PROOFS: dict[str, tuple[str, str | None, bytes]] = {
    mesh_id(1): ("myriadmesh", BOB.id.hex(), ACK),
    mesh_id(3): ("myriadmesh", None, TO_ALL),
    bundle_id(LETTER).hex(): ("dtn", CID.uid.hex(), RECEIPT),
    uuid(10): ("signalhub", None, PUBLISHED),
    uuid(20): ("signalhub", None, BROADCASTED),
    uuid(30): ("signalhub", WIDGET, SENT),
    uuid(40): ("signalhub", WIDGET, FORWARDED),
}


def proven(id_: str, protocol: str, destination: str | None, raw: bytes) -> dict[str, Any]:
    place = max(place for place, frame in enumerate(FRAMES) if frame.raw == raw)
    kind = "witness" if raw == TO_ALL else "wire"
    return fate(FRAMES, protocol, id_, "delivered", place, destination=destination, hops=3,
                evidence_kind=kind)  # fmt: skip


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[str, dict[str, Any]]:
    known = [proven(id_, *proof) for id_, proof in PROOFS.items()]
    known.append(fate(FRAMES, "myriadmesh", mesh_id(4), "lost", None, destination=BOB.id.hex()))
    sightings = seen(spark, FRAMES, KEYS)
    return {
        row["message_id"]: row for row in rows(TABLE, deliveries(sightings, fates_of(spark, known)))
    }


def test_only_what_was_delivered_has_a_row(found: dict[str, Any]) -> None:
    assert set(found) == set(PROOFS)


def test_a_frame_that_was_sent_again_was_retried(found: dict[str, Any]) -> None:
    row = found[mesh_id(1)]
    assert (row["retries"], row["recipients"], row["hops"]) == (1, 1, 3)
    assert (row["ack_type"], row["latency_ms"]) == ("RECEIVED", 60)
    assert found[mesh_id(3)]["retries"] == 1, "two frames came to cid"


def test_the_receipt_of_a_bundle_tells_of_its_way(found: dict[str, Any]) -> None:
    row = found[bundle_id(LETTER).hex()]
    assert (row["ack_type"], row["transport"], row["reported_ms"]) == ("DeliveryAck", "lora", -5)
    assert (row["latency_ms"], row["retries"]) == (90, 0)
    assert row["hops"] == 3, "four billion hops are no number of hops"


def test_the_nodes_that_heard_a_broadcast_are_counted(found: dict[str, Any]) -> None:
    row = found[mesh_id(3)]
    assert (row["ack_type"], row["recipients"], row["destination"]) == ("witness", 2, None)


def test_the_recipients_of_a_publication_are_counted(found: dict[str, Any]) -> None:
    assert found[uuid(10)]["recipients"] == 2, "the hub says 1, and two copies left"


def test_a_broadcast_has_the_hub_s_counts(found: dict[str, Any]) -> None:
    row = found[uuid(20)]
    assert (row["recipients"], row["queued"], row["failed"]) == (7, 2, 0)
    assert row["ack_type"] == "hub:broadcast_ack"


def test_a_send_is_delivered_to_one(found: dict[str, Any]) -> None:
    row = found[uuid(30)]
    assert (row["ack_type"], row["recipients"], row["queued"]) == ("hub:delivery_ack", 1, None)
    assert found[uuid(40)]["ack_type"] == "forwarded"
