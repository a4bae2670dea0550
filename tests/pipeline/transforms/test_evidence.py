"""What proves something, and what does not."""

from pyspark.sql import SparkSession

from support.letters import ack, connect, error, send, uuid
from support.spark import seen
from wireloom.pipeline.transforms.accountable import accountable
from wireloom.pipeline.transforms.evidence import evidence, identities, served


def test_the_hubs_word_counts_as_it_leaves_the_hub(spark: SparkSession) -> None:
    frames = [connect(), send(10), ack(11, 10, at=1), ack(12, 10, at=2, forged=True)]
    sightings = seen(spark, frames)
    proofs = evidence(sightings, accountable(sightings)).collect()
    assert [(row.message_id, row.proven, row.evidence_frame) for row in proofs] == [
        (uuid(10), "delivered", "hub-1#2")
    ]
    assert {row.sighting for row in served(sightings).collect()} == {"hub-1#2"}


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
    sightings = seen(spark, frames)
    rows = evidence(sightings, accountable(sightings)).orderBy("decided_at").collect()
    assert [row.reason for row in rows] == list(codes.values())
    assert {row.proven for row in rows} == {"rejected"}


def test_a_hub_has_no_identity_of_its_own(spark: SparkSession) -> None:
    assert identities(seen(spark, [send(10)])).collect() == []
