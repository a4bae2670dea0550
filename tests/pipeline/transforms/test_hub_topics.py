from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.hub_talk import heard, said
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.hub_topics import TABLE, hub_topics

PUBLISH = said("hub:publish", 1, at=0)


def subscribed(number: int, name: str, *, at: int, about: int) -> bytes:
    return said("hub:subscribed", number, at=at, about=about, payload={"subscription_id": name})


FRAMES = [
    heard(PUBLISH, 0),
    heard(PUBLISH, 1, "out", node="client-1", peer="hub"),
    heard(said("hub:published", 2, at=5, about=1), 5, "out"),
    heard(said("hub:publish", 3, at=100, from_="@(a/b)"), 100),
    heard(said("hub:published", 4, at=105, about=3, payload={"subscriber_count": 0}), 105, "out"),
    heard(said("hub:subscribe", 5, at=10), 10),
    heard(subscribed(6, "kept", at=11, about=5), 11, "out"),
    heard(said("hub:subscribe", 7, at=20, payload={"durable": False}), 20),
    heard(subscribed(8, "ended", at=21, about=7), 21, "out"),
    heard(said("hub:unsubscribe", 9, at=30, payload={"subscription_id": "ended"}), 30),
    heard(said("hub:unsubscribe", 12, at=31, payload={"subscription_id": "again"}), 31),
    heard(subscribed(13, "again", at=32, about=99), 32, "out"),
    heard(said("hub:subscribed", 14, at=50, payload={"topic": "quiet"}), 50, "out"),
]


@pytest.fixture(scope="module")
def topics(spark: SparkSession) -> dict[str, dict[str, Any]]:
    return {row["topic"]: row for row in rows(TABLE, hub_topics(seen(spark, FRAMES)))}


def test_a_publication_that_two_nodes_captured_counts_once(topics: dict[str, Any]) -> None:
    row = topics["events/ui"]
    assert (row["publications"], row["publishers"]) == (2, 2)
    assert row["first_at"] < row["last_at"]
    assert len(PUBLISH) <= row["bytes"] < 3 * len(PUBLISH)


def test_subscribers_that_were_reached_are_summed(topics: dict[str, Any]) -> None:
    assert (topics["events/ui"]["deliveries"], topics["events/ui"]["unheard"]) == (3, 1)


def test_subscriptions_are_active_until_they_are_ended(topics: dict[str, Any]) -> None:
    row = topics["events/ui"]
    assert (row["subscriptions"], row["active"], row["durable"]) == (3, 2, 1)


def test_a_topic_that_nobody_published_to_is_there(topics: dict[str, Any]) -> None:
    row = topics["quiet"]
    assert (row["publications"], row["bytes"], row["subscriptions"]) == (0, 0, 1)
    assert (row["first_at"], row["deliveries"]) == (None, 0)
