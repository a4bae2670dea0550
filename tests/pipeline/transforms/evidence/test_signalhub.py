"""What the hub's word proves."""

from pyspark.sql import SparkSession

from protocols.signalhub.samples import WIDGET
from support.evidence import claimed, decided
from support.hub_talk import heard, said
from support.letters import ack, connect, error, send, uuid


def test_the_hubs_word_counts_as_it_leaves_the_hub(spark: SparkSession) -> None:
    frames = [connect(), send(10), ack(11, 10, at=1), ack(12, 10, at=2, forged=True)]
    assert [
        (row.message_id, row.proven, row.rule, row.evidence_frame) for row in claimed(spark, frames)
    ] == [(uuid(10), "delivered", "anyone", "hub-1#2")]


def test_codes_become_reasons(spark: SparkSession) -> None:
    codes = {
        "unknown_actor": "unknown_destination",
        "message_too_large": "too_large",
        "version_mismatch": "unsupported_version",
        "internal_error": "internal",
        "rate_limited": "rate_limited",
    }
    frames = [connect(), send(10)]
    frames += [error(20 + n, 10, at=n, code=code) for n, code in enumerate(codes)]
    rows = claimed(spark, frames)
    assert [row.reason for row in rows] == list(codes.values())
    assert {row.proven for row in rows} == {"rejected"}


def test_details_tell_what_was_malformed(spark: SparkSession) -> None:
    details = ({"reason": "invalid_message"}, {"reason": "else"})
    payloads = [{"code": "internal_error", "details": one} for one in details]
    frames = [
        heard(said("hub:error", 20 + n, at=n, about=10, payload=payload), n, "out")
        for n, payload in enumerate(payloads)
    ]
    assert [row.reason for row in claimed(spark, frames)] == ["malformed", "internal"]


def test_what_leaves_the_hub_is_delivered_to_whom_it_leaves_for(spark: SparkSession) -> None:
    forwarded = said("application", 11, at=1, metadata={"originalMessageId": uuid(10)})
    (row,) = claimed(spark, [heard(forwarded, 1, "out"), heard(forwarded, 2)])
    assert (row.message_id, row.proven, row.for_destination) == (
        uuid(10),
        "delivered",
        WIDGET,
    )


def test_what_reaches_nobody_is_not_delivered(spark: SparkSession) -> None:
    nobody = {"delivered_count": 0, "queued_count": 0, "failed_count": 0}
    answers: list[tuple[str, str, dict[str, int]]] = [
        ("hub:publish", "hub:published", {"subscriber_count": 1}),
        ("hub:publish", "hub:published", {"subscriber_count": 0}),
        ("hub:broadcast", "hub:broadcast_ack", {**nobody, "delivered_count": 1}),
        ("hub:broadcast", "hub:broadcast_ack", {**nobody, "queued_count": 1}),
        ("hub:broadcast", "hub:broadcast_ack", {**nobody, "failed_count": 1}),
    ]
    frames = []
    for number, (type_, answer, counts) in enumerate(answers):
        frames.append(heard(said(type_, number, at=0), 0))
        told = said(answer, 10 + number, at=5, about=number, payload=counts)
        frames.append(heard(told, 5, "out"))
    found = decided(spark, frames)
    in_vain = ("rejected", "unknown_destination", None)
    delivered = ("delivered", None, None)
    assert [
        (row["state"], row["reason"], row["destination"]) for _, row in sorted(found.items())
    ] == [delivered, in_vain, delivered, delivered, in_vain]
