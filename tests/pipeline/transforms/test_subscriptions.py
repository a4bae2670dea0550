from typing import Any

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from support.bundles import ANN, BOB, EVE, NOW_MS, bundle, sighting
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.subscriptions import TABLE, subscriptions
from wireloom.protocols.dtn.codec import decode, encode
from wireloom.protocols.dtn.constants import SubAction
from wireloom.protocols.dtn.messages import Bundle, SubMsg
from wireloom.wire.keys import uid

TEA, MAPS = b"\x01" * 32, b"\x02" * 32
HORIZON_MS = NOW_MS + 100
ON, OFF = SubAction.SUBSCRIBE, SubAction.UNSUBSCRIBE


def said(topic: bytes, action: SubAction, *, at: int, expires: int | None = None) -> SubMsg:
    return SubMsg(
        topic_id=topic,
        action=action,
        expires_at=None if expires is None else NOW_MS + expires,
        timestamp=NOW_MS + at,
    )


def forged(message: SubMsg) -> bytes:
    made = decode(bundle(message, ANN))
    assert isinstance(made, Bundle)
    return encode(replace(made, signature=b"\x05" * 64))


FRAMES = [
    sighting(bundle(said(TEA, ON, at=5), ANN), at=10),
    sighting(bundle(said(TEA, ON, at=5), ANN), at=11, node="n2"),
    sighting(bundle(said(TEA, OFF, at=4), ANN), at=12),
    sighting(forged(said(TEA, OFF, at=9)), at=13),
    sighting(encode(said(TEA, OFF, at=9)), at=14),
    sighting(bundle(said(MAPS, ON, at=1, expires=100), ANN), at=15),
    sighting(bundle(said(MAPS, ON, at=1, expires=101), BOB), at=16),
    sighting(bundle(said(TEA, OFF, at=2), BOB), at=17),
    sighting(bundle(said(TEA, ON, at=1), BOB), at=18),
    sighting(bundle(said(TEA, OFF, at=3), EVE), at=19),
    sighting(bundle(said(TEA, ON, at=3), EVE), at=20),
]

Subscriptions = dict[tuple[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> Subscriptions:
    return _found(spark, FRAMES)


def _found(spark: SparkSession, frames: list[Any]) -> Subscriptions:
    names = {
        uid(key.public).hex(): name for key, name in ((ANN, "ann"), (BOB, "bob"), (EVE, "eve"))
    }
    topics = {TEA.hex(): "tea", MAPS.hex(): "maps"}
    made = subscriptions(seen(spark, frames), HORIZON_MS)
    return {(names[row["subscriber"]], topics[row["topic_id"]]): row for row in rows(TABLE, made)}


def test_the_latest_word_of_a_subscriber_counts_whenever_it_came(found: Subscriptions) -> None:
    assert found["ann", "tea"]["state"] == "subscribed"
    assert found["ann", "tea"]["changed_ms"] == NOW_MS + 5
    assert found["bob", "tea"]["state"] == "unsubscribed"
    assert found["bob", "tea"]["ended_by"] == "request"


def test_forged_and_unsigned_messages_end_nothing(found: Subscriptions) -> None:
    assert found["ann", "tea"]["ended_by"] is None
    assert found["ann", "tea"]["messages"] == 2


def test_a_subscription_ends_when_it_expires(found: Subscriptions) -> None:
    assert found["ann", "maps"]["state"] == "unsubscribed"
    assert found["ann", "maps"]["ended_by"] == "expiry"
    assert found["bob", "maps"]["state"] == "subscribed"


def test_the_end_wins_at_the_same_instant(found: Subscriptions) -> None:
    assert found["eve", "tea"]["state"] == "unsubscribed"


def test_the_order_of_arrival_does_not_matter(spark: SparkSession, found: Subscriptions) -> None:
    assert _found(spark, FRAMES[::-1]) == found
