"""What acknowledgements, cancellations and outcomes prove about a bundle."""

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from support.evidence import claimed, decided
from support.nodes import ANN, CID, DAN, NOW_MS, Node, bundle, bundle_id, captured, carried
from wireloom.protocols.dtn.codec import decode, encode
from wireloom.protocols.dtn.constants import CancelReason, Destination
from wireloom.protocols.dtn.integrity import sign
from wireloom.protocols.dtn.messages import Bundle, ControlMessage, DeliveryAck, DeliveryCancel
from wireloom.wire.outcome import Outcome

LETTER = bundle(ANN, b"letter", (Destination.USER, CID.uid))
ID = bundle_id(LETTER)
SENT = captured("dtn", carried(LETTER), 0, ANN, "local")


def carrying(message: ControlMessage, by: Node) -> bytes:
    """A message that somebody signs, in a bundle of the same."""
    signed = sign(message, by.key)
    assert isinstance(signed, ControlMessage)
    return carried(bundle(by, signed, (Destination.USER, ANN.uid), 80), by)


def receipt(by: Node) -> bytes:
    return carrying(
        DeliveryAck(
            msg_id=ID,
            to_uid=ANN.uid,
            from_uid=by.uid,
            delivered_at_ms=NOW_MS + 70,
            sig=bytes(64),
        ),
        by,
    )


def cancel(reason: CancelReason, by: Node) -> bytes:
    said = DeliveryCancel(msg_id=ID, reason=reason, issued_by_uid=by.uid, sig=bytes(64))
    return carrying(said, by)


def unsigned(raw: bytes) -> bytes:
    made = decode(raw)
    assert isinstance(made, Bundle)
    return encode(replace(made, signature=bytes(64)))


@pytest.mark.parametrize(
    ("proof", "state"),
    [
        (receipt(CID), "delivered"),
        (receipt(DAN), "lost"),
        (cancel(CancelReason.ACKED, CID), "delivered"),
        (cancel(CancelReason.ACKED, ANN), "lost"),
        (cancel(CancelReason.RECALLED, ANN), "cancelled"),
        (cancel(CancelReason.RECALLED, CID), "lost"),
        (cancel(CancelReason.EXPIRED, ANN), "expired"),
        (cancel(CancelReason.EXPIRED, CID), "lost"),
    ],
)
def test_only_those_who_are_entitled_to_prove(
    spark: SparkSession, proof: bytes, state: str
) -> None:
    row = decided(spark, [SENT, captured("dtn", proof, 90, "relay")])[ID.hex()]
    assert row["state"] == state


def test_what_is_not_verified_proves_nothing_whatever_its_outcome(spark: SparkSession) -> None:
    frames = [
        captured("dtn", unsigned(proof), 90, "relay", outcome=Outcome.DELIVERED)
        for proof in (receipt(CID), cancel(CancelReason.RECALLED, ANN))
    ]
    assert claimed(spark, frames) == []


def test_a_receipt_for_a_topic_may_come_from_anyone(spark: SparkSession) -> None:
    news = bundle(ANN, b"news", (Destination.TOPIC, bytes(32)))
    said = DeliveryAck(
        msg_id=bundle_id(news),
        to_uid=ANN.uid,
        from_uid=DAN.uid,
        delivered_at_ms=NOW_MS,
        sig=bytes(64),
    )
    frames = [
        captured("dtn", carried(news), 0, ANN, "local"),
        captured("dtn", carrying(said, DAN), 90, "relay"),
    ]
    assert decided(spark, frames)[bundle_id(news).hex()]["state"] == "delivered"


@pytest.mark.parametrize(("node", "state"), [(ANN, "expired"), (DAN, "lost")])
def test_the_origin_says_that_time_is_over(spark: SparkSession, node: Node, state: str) -> None:
    over = captured("dtn", carried(LETTER), 90, node, outcome=Outcome.EXPIRED)
    assert decided(spark, [SENT, over])[ID.hex()]["state"] == state
