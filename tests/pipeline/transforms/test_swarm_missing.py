from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from support.spark import seen
from support.swarms import EPOCH_MS, NOW_MS, content, hash_of, sighting
from support.tables import rows, stored
from wireloom.pipeline.transforms.swarm_messages import TABLE as MESSAGES
from wireloom.pipeline.transforms.swarm_messages import swarm_messages
from wireloom.pipeline.transforms.swarm_missing import SWARMS, TABLE, swarm_missing, swarms
from wireloom.protocols.uep12.integrity import msg_hash
from wireloom.wire.outcome import Outcome

LATE, SOON = b"\x11" * 8, b"\x22" * 8
ROOT = content("root", at=0, ttl=10)
LEAF = content("leaf", msg_hash(ROOT), at=1, ttl=10)
TORN = content("torn", LATE, at=2, ttl=10, diff=0)
AGED = content("aged", SOON, SOON, at=3, ttl=10, diff=8)
AGED_TOO = content("aged too", SOON, at=4, ttl=10, diff=9)
IDLE = content("idle", b"\x33" * 8, at=5, proven=False)
LONE = content("lone", LATE, at=6, ttl=10)

FRAMES = [
    sighting(ROOT, "ann", "local"),
    sighting(LEAF, "ann"),
    sighting(LEAF, "bob"),
    sighting(TORN, "ann"),
    sighting(AGED, "ann"),
    sighting(AGED_TOO, "ann"),
    sighting(IDLE, "ann"),
    sighting(ROOT, "cid"),
    sighting(LONE, "cid", outcome=Outcome.REJECTED),
    sighting(TORN, "dan", swarm=None),
]
HORIZON_MS = NOW_MS + 3 + 2 * EPOCH_MS
"""When SOON expires by the word of AGED; by that of AGED_TOO it did before."""


@pytest.fixture(scope="module")
def messages(spark: SparkSession) -> DataFrame:
    return stored(MESSAGES, swarm_messages(seen(spark, FRAMES)))


@pytest.fixture(scope="module")
def missing(spark: SparkSession, messages: DataFrame) -> list[dict[str, Any]]:
    return rows(TABLE, swarm_missing(messages, HORIZON_MS))


def test_a_node_misses_what_its_messages_refer_to(missing: list[dict[str, Any]]) -> None:
    assert {(row["swarm"], row["node"], row["message_id"]) for row in missing} == {
        ("tea", "bob", hash_of(ROOT)),
        ("tea", "ann", LATE.hex()),
        ("tea", "ann", SOON.hex()),
        ("tea", None, LATE.hex()),
        ("tea", None, SOON.hex()),
        (None, "dan", LATE.hex()),
        (None, None, LATE.hex()),
    }


def test_what_is_unexpired_is_missing_and_the_rest_irretrievable(
    missing: list[dict[str, Any]],
) -> None:
    states = {(row["node"], row["message_id"]): row["state"] for row in missing}
    assert states["ann", LATE.hex()] == states["bob", hash_of(ROOT)] == "missing"
    assert states["ann", SOON.hex()] == states[None, SOON.hex()] == "irretrievable"


def test_the_latest_promise_counts_for_a_message_that_nobody_has(
    spark: SparkSession, messages: DataFrame
) -> None:
    found = rows(TABLE, swarm_missing(messages, HORIZON_MS - 1))
    (soon,) = [row for row in found if row["node"] == "ann" and row["message_id"] == SOON.hex()]
    assert soon["expires_ms"] == HORIZON_MS
    assert soon["state"] == "missing"
    assert soon["referrers"] == 2


def test_a_message_that_somebody_has_expires_when_it_says(missing: list[dict[str, Any]]) -> None:
    (row,) = [row for row in missing if row["node"] == "bob"]
    assert row["holders"] == ["ann", "cid"]
    assert row["expires_ms"] == NOW_MS + 10 * EPOCH_MS


def test_a_swarm_is_synced_or_says_how_much_it_lacks(
    spark: SparkSession, messages: DataFrame
) -> None:
    lacking = swarm_missing(messages, HORIZON_MS)
    found = rows(SWARMS, swarms(messages, lacking))
    assert {(row["swarm"], row["node"]): (row["messages"], row["status"]) for row in found} == {
        ("tea", None): (5, "1 missing, 1 gone"),
        ("tea", "ann"): (5, "1 missing, 1 gone"),
        ("tea", "bob"): (1, "1 missing"),
        ("tea", "cid"): (1, "synced"),
        (None, "dan"): (1, "1 missing"),
        (None, None): (1, "1 missing"),
    }
    assert {(row["missing"], row["gone"]) for row in found if row["node"] == "cid"} == {(0, 0)}
