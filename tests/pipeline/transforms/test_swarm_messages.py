from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.spark import seen
from support.swarms import EPOCH_MS, NOW_MS, content, hash_of, sighting
from support.tables import rows
from wireloom.pipeline.transforms.swarm_messages import TABLE, swarm_messages
from wireloom.protocols.uep12.integrity import msg_hash
from wireloom.wire.outcome import Outcome

FIRST = content("first", ttl=0)
SECOND = content("second", msg_hash(FIRST), at=1, diff=-3)
IDLE = content("idle", msg_hash(FIRST), at=2, proven=False)
VAST = content("vast", at=3, ttl=0xFFFF)

FRAMES = [
    sighting(FIRST, "ann", "local", at=5),
    sighting(FIRST, "ann", "out", None, at=5),
    sighting(FIRST, "bob", at=6),
    sighting(FIRST, "cid", outcome=Outcome.EXPIRED, at=7),
    sighting(FIRST, "dan", outcome=None, at=7),
    sighting(SECOND, "bob", "local", at=8),
    sighting(SECOND, "ann", outcome=Outcome.REJECTED, at=9),
    sighting(SECOND, "ann", outcome=Outcome.ACCEPTED, at=10),
    sighting(IDLE, "eve", "local", at=11),
    sighting(FIRST, "zoe", at=12, swarm=None, epoch_ms=None),
    sighting(SECOND, "zoe", at=12, swarm=None, epoch_ms=None),
    sighting(VAST, "ann", at=13, swarm="vast", epoch_ms=(1 << 63) - 1),
]

Messages = dict[tuple[str | None, str], dict[str, Any]]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> Messages:
    return _by_key(rows(TABLE, swarm_messages(seen(spark, FRAMES))))


def _by_key(found: list[dict[str, Any]]) -> Messages:
    return {(row["swarm"], row["message_id"]): row for row in found}


def test_a_message_is_one_row_a_swarm(found: Messages) -> None:
    assert len(found) == 6
    assert found["tea", hash_of(FIRST)]["sightings"] == 5
    assert found[None, hash_of(FIRST)]["sightings"] == 1


def test_holders_composed_or_took_it_and_may_have_refused_it_before(found: Messages) -> None:
    assert found["tea", hash_of(FIRST)]["holders"] == ["ann", "bob", "dan"]
    assert found["tea", hash_of(SECOND)]["holders"] == ["ann", "bob"]


def test_only_references_with_work_count_and_only_within_the_swarm(found: Messages) -> None:
    assert found["tea", hash_of(FIRST)]["referrers"] == 1
    assert found["tea", hash_of(SECOND)]["referrers"] == 0
    assert found[None, hash_of(FIRST)]["referrers"] == 1


def test_references_are_kept_with_their_epochs(found: Messages) -> None:
    expected = [{"msg_hash": hash_of(FIRST), "epoch_diff": -3}]
    assert found["tea", hash_of(SECOND)]["references"] == expected


def test_work_is_told_from_idleness(found: Messages) -> None:
    assert found["tea", hash_of(SECOND)]["pow_ok"]
    assert not found["tea", hash_of(IDLE)]["pow_ok"]


def test_a_message_lives_at_least_one_epoch_of_its_swarm(found: Messages) -> None:
    assert found["tea", hash_of(FIRST)]["expires_ms"] == NOW_MS + EPOCH_MS
    assert found["tea", hash_of(SECOND)]["expires_ms"] == NOW_MS + 1 + 10 * EPOCH_MS
    assert found[None, hash_of(FIRST)]["expires_ms"] == NOW_MS + 60_000


def test_an_absurd_epoch_makes_a_message_live_for_ever(found: Messages) -> None:
    assert found["vast", hash_of(VAST)]["expires_ms"] == (1 << 63) - 1


def test_the_order_of_arrival_does_not_matter(spark: SparkSession, found: Messages) -> None:
    again = rows(TABLE, swarm_messages(seen(spark, FRAMES[::-1])))
    assert _by_key(again) == found
