"""What the nodes of a swarm say became of CONTENT."""

from pyspark.sql import SparkSession

from support.evidence import all_decided
from support.swarms import EPOCH_MS, NOW_MS, content, hash_of, sighting
from wireloom.wire.outcome import Outcome, Reason

TEA = content("tea", ttl=3)


def test_each_node_of_the_swarm_but_the_composer_speaks_for_itself(spark: SparkSession) -> None:
    frames = [
        sighting(TEA, "composer", "local", None),
        sighting(TEA, "a", outcome=Outcome.ACCEPTED, at=1),
        sighting(TEA, "b", outcome=Outcome.REJECTED, reason=Reason.STALE, at=2),
        sighting(TEA, "c", outcome=Outcome.EXPIRED, at=3),
        sighting(content("other"), "d", "out", None),
        sighting(content("coffee"), "e", "local", None, swarm="coffee"),
    ]
    found = [row for row in all_decided(spark, frames) if row["message_id"] == hash_of(TEA)]
    assert {row["destination"]: (row["state"], row["reason"]) for row in found} == {
        "a": ("delivered", None),
        "b": ("rejected", "stale"),
        "c": ("expired", None),
        "d": ("lost", None),
    }
    assert {row["evidence_kind"] for row in found} == {"witness", None}
    assert {row["deadline"].timestamp() * 1000 for row in found} == {NOW_MS + 3 * EPOCH_MS}


def test_who_hears_back_what_it_sent_first_composed_it(spark: SparkSession) -> None:
    frames = [
        sighting(TEA, "a", "out", None),
        sighting(TEA, "a", outcome=Outcome.DUPLICATE, at=1),
        sighting(TEA, "b", outcome=Outcome.ACCEPTED, at=1),
    ]
    found = {row["destination"]: row["state"] for row in all_decided(spark, frames)}
    assert found == {"b": "delivered"}
