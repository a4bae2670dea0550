from typing import Any

import pytest
from msgspec import UNSET
from pyspark.sql import SparkSession

from support.hub_talk import HUB_NODE, NOW_MS, heard, said, uuid
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.hub_asks import TABLE, hub_asks
from wireloom.protocols.signalhub.constants import ErrorCode
from wireloom.wire.outcome import Outcome

FRAMES = [
    heard(said("hub:send", 1, at=0), 0),
    heard(said("hub:delivery_ack", 2, at=40, about=1), 40, "out"),
    heard(said("hub:error", 3, at=90, about=1), 90, "out"),
    heard(said("hub:register", 4, at=100), 100, outcome=Outcome.REJECTED),
    heard(said("hub:error", 5, at=130, about=4, payload={"code": ErrorCode.TIMEOUT}), 130, "out"),
    heard(said("hub:discover", 6, at=200), 200),
    heard(said("hub:discovered", 7, at=201, about=6), 205),
    heard(said("hub:discovered", 8, at=201, about=6), 210, "out", peer="somebody else"),
    heard(said("hub:queue_stats", 9, at=59_000), 59_000),
    heard(said("hub:subscribe", 10, at=300), 290, "out", node="client-1", peer="hub"),
    heard(said("hub:subscribe", 10, at=300), 300),
    heard(said("hub:subscribed", 11, at=310, about=10), 310, "out"),
    heard(said("hub:subscribed", 11, at=310, about=10), 330, node="client-1", peer="hub"),
    heard(said("hub:rate_limited", 13, at=401, about=12), 401, "out"),
    heard(said("hub:renew", 12, at=400), 400),
    heard(said("hub:renew", 14, at=2**63 - 1 - NOW_MS), 500),
    heard(said("hub:heartbeat", 15, at=600), 600),
    heard(said("hub:send", 16, at=700, pattern="tell"), 700),
    heard(said("hub:send", 17, at=800, pattern="tell", metadata=UNSET), 800),
]


@pytest.fixture(scope="module")
def asks(spark: SparkSession) -> dict[str, dict[str, Any]]:
    found = hub_asks(seen(spark, FRAMES), NOW_MS + 60_000)
    return {row["message_id"]: row for row in rows(TABLE, found)}


def test_every_ask_and_nothing_else_has_a_row(asks: dict[str, Any]) -> None:
    assert set(asks) == {uuid(number) for number in (1, 4, 6, 9, 10, 12, 14, 16)}


def test_the_first_answer_counts(asks: dict[str, Any]) -> None:
    row = asks[uuid(1)]
    assert (row["outcome"], row["answer_type"]) == ("answered", "hub:delivery_ack")
    assert (row["latency_ms"], row["status"], row["code"]) == (40, "queued", None)


def test_an_error_is_a_refusal_with_its_code(asks: dict[str, Any]) -> None:
    row = asks[uuid(4)]
    assert (row["outcome"], row["code"], row["retryable"]) == ("refused", "timeout", True)
    row = asks[uuid(12)]
    assert (row["outcome"], row["code"]) == ("refused", "rate_limited")


def test_an_answer_from_the_asker_or_to_another_client_is_none(asks: dict[str, Any]) -> None:
    row = asks[uuid(6)]
    assert (row["outcome"], row["answered_at"], row["latency_ms"]) == ("unanswered", None, None)


def test_an_ask_waits_while_it_lives(asks: dict[str, Any]) -> None:
    assert asks[uuid(9)]["outcome"] == "waiting"


def test_a_time_beyond_all_calendars_does_not_stop_the_others(asks: dict[str, Any]) -> None:
    assert asks[uuid(14)]["outcome"] == "waiting"


def test_the_clock_of_one_node_measures_ask_and_answer(asks: dict[str, Any]) -> None:
    row = asks[uuid(10)]
    assert (row["node"], row["latency_ms"]) == ("client-1", 40)
    assert asks[uuid(1)]["node"] == HUB_NODE
