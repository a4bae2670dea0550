from typing import Any

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from protocols.cthun.samples import AGENT, CONTROLLER, GREETING, from_broker
from support.hub_talk import uuid
from support.nodes import NOW_MS, captured
from support.spark import seen
from support.tables import rows
from wireloom.capture.frame import CapturedFrame
from wireloom.pipeline.transforms.broker_expired import TABLE, broker_expired
from wireloom.protocols.cthun.codec import encode
from wireloom.protocols.cthun.constants import MessageType
from wireloom.protocols.cthun.messages import Packet, TtlExpired
from wireloom.protocols.cthun.times import text_of
from wireloom.wire.outcome import Outcome

AWAY = "cth://agent-2.example.com/agent"


def message(number: int, at: int, direction: str = "in", **more: Any) -> CapturedFrame:
    envelope = replace(
        GREETING,
        id=uuid(number),
        targets=(AGENT, AWAY, "cth://*/agent"),
        expires=text_of(NOW_MS + 5_000),
    )
    raw = encode(Packet(envelope=envelope, data=b"hi"))
    return captured("cthun", raw, at, "broker-1", direction, **{"peer": CONTROLLER, **more})


def expiry(number: int, about: int, at: int, direction: str = "out", **more: Any) -> CapturedFrame:
    said = from_broker(MessageType.TTL_EXPIRED)
    envelope = replace(said, id=uuid(number), in_reply_to=uuid(about))
    raw = encode(Packet(envelope=envelope, data=TtlExpired(id=uuid(about))))
    return captured("cthun", raw, at, "broker-1", direction, peer=CONTROLLER, **more)


FRAMES = [
    message(1, 100),
    message(1, 200, "out", peer=AGENT),
    expiry(11, 1, 5_020),
    expiry(12, 1, 6_000),
    message(2, 5_100, outcome=Outcome.EXPIRED),
    message(3, 100),
    expiry(13, 3, 300, "in", outcome=Outcome.REJECTED),
    expiry(14, 4, 400),
    message(5, 100),
    expiry(15, 5, 5_010, "local"),
]


@pytest.fixture(scope="module")
def expired(spark: SparkSession) -> dict[str, dict[str, Any]]:
    return {row["message_id"]: row for row in rows(TABLE, broker_expired(seen(spark, FRAMES)))}


def test_a_report_that_was_refused_expires_nothing(expired: dict[str, Any]) -> None:
    assert set(expired) == {uuid(1), uuid(2), uuid(4), uuid(5)}


def test_the_first_report_tells_how_long_a_message_waited(expired: dict[str, Any]) -> None:
    row = expired[uuid(1)]
    assert (row["waited_ms"], row["late_ms"], row["reported"]) == (4_920, 20, True)
    assert row["source"] == CONTROLLER


def test_targets_that_it_left_for_were_reached(expired: dict[str, Any]) -> None:
    assert expired[uuid(1)]["unreached"] == [AWAY]
    assert expired[uuid(2)]["unreached"] == [AGENT, AWAY]


def test_what_only_the_broker_recorded_was_not_reported(expired: dict[str, Any]) -> None:
    row = expired[uuid(2)]
    assert (row["reported"], row["late_ms"], row["waited_ms"]) == (False, 100, 0)


def test_a_report_for_a_sender_that_has_gone_told_nobody(expired: dict[str, Any]) -> None:
    row = expired[uuid(5)]
    assert (row["reported"], row["late_ms"], row["source"]) == (False, 10, CONTROLLER)


def test_a_report_on_a_message_that_nobody_saw_is_kept(expired: dict[str, Any]) -> None:
    row = expired[uuid(4)]
    assert (row["source"], row["type"], row["sent_at"]) == (CONTROLLER, None, None)
    assert (row["waited_ms"], row["late_ms"]) == (None, None)
