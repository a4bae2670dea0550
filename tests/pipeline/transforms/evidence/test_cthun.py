"""What the broker's word proves, and what leaves the broker."""

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from protocols.cthun.samples import AGENT, CONTROLLER, GREETING, from_broker, to_broker
from support.evidence import all_decided, claimed, decided
from support.hub_talk import uuid
from support.nodes import NOW_MS, captured
from wireloom.capture.frame import CapturedFrame
from wireloom.protocols.cthun.codec import encode
from wireloom.protocols.cthun.constants import MessageType
from wireloom.protocols.cthun.messages import (
    BrokerData,
    DestinationReport,
    ErrorMessage,
    Packet,
    TtlExpired,
)
from wireloom.protocols.cthun.times import text_of

LETTER = replace(GREETING, targets=(AGENT,), expires=text_of(NOW_MS + 50_000))


def at_broker(
    packet: Packet, at: int, direction: str = "in", peer: str = CONTROLLER
) -> CapturedFrame:
    return captured("cthun", encode(packet), at, "broker-1", direction, peer=peer)


def word(type_: MessageType, data: BrokerData) -> Packet:
    """What the broker says about the letter."""
    envelope = replace(from_broker(type_.value), id=uuid(9), in_reply_to=LETTER.id)
    return Packet(envelope=envelope, data=data)


EXPIRED = word(MessageType.TTL_EXPIRED, TtlExpired(id=LETTER.id))


def test_the_brokers_word_counts_also_when_the_sender_has_gone(spark: SparkSession) -> None:
    told = at_broker(EXPIRED, 50_005, "local")
    row = decided(spark, [at_broker(Packet(envelope=LETTER), 5), told])[LETTER.id]
    assert (row["state"], row["evidence_kind"], row["latency_ms"]) == ("expired", "wire", 50_000)


def test_what_a_client_says_in_the_brokers_name_does_not_count(spark: SparkSession) -> None:
    greeting = Packet(envelope=to_broker(MessageType.ASSOCIATE_REQUEST.value))
    frames = [at_broker(greeting, 0), at_broker(EXPIRED, 1)]
    assert claimed(spark, frames) == []


def test_without_a_time_of_its_sender_a_message_is_timed_from_its_first_sighting(
    spark: SparkSession,
) -> None:
    letter = Packet(envelope=LETTER)
    row = decided(spark, [at_broker(letter, 5), at_broker(letter, 30, "out", AGENT)])[LETTER.id]
    assert row["created_at"] is None
    assert (row["state"], row["latency_ms"], row["skew_ms"]) == ("delivered", 25, 0)


@pytest.mark.parametrize(
    ("description", "reason"),
    [
        ("Not authenticated", "unauthenticated"),
        ("you are NOT AUTHORIZED to do so", "unauthorized"),
        ("no idea", "malformed"),
    ],
)
def test_an_error_message_says_why(spark: SparkSession, description: str, reason: str) -> None:
    error = word(MessageType.ERROR_MESSAGE, ErrorMessage(id=LETTER.id, description=description))
    (row,) = claimed(spark, [at_broker(error, 5, "out")])
    assert (row.message_id, row.proven, row.reason) == (LETTER.id, "rejected", reason)


def test_a_wildcard_stands_for_whom_the_broker_names_or_serves(spark: SparkSession) -> None:
    wild = Packet(envelope=replace(LETTER, targets=("cth://*/agent", "cth://*/nobody")))
    named = ("cth://one/agent", "cth://other/controller")
    report = word(MessageType.DESTINATION_REPORT, DestinationReport(id=LETTER.id, targets=named))
    frames = [
        at_broker(wild, 0),
        at_broker(report, 1, "out"),
        at_broker(wild, 2, "out", "cth://two/agent"),
    ]
    assert {row["destination"]: row["state"] for row in all_decided(spark, frames)} == {
        "cth://one/agent": "lost",
        "cth://two/agent": "delivered",
        "cth://*/nobody": "lost",
    }
