"""What proves something, and what does not."""

from pyspark.sql import Row, SparkSession

from support.letters import ack, connect, error, send, uuid
from support.spark import seen
from wireloom.capture.record import Captured
from wireloom.pipeline.transforms.evidence import CLAIMS
from wireloom.pipeline.transforms.nodes import nodes


def claimed(spark: SparkSession, frames: list[Captured]) -> list[Row]:
    sightings = seen(spark, frames)
    found = spark.sql(CLAIMS, sightings=sightings, nodes=nodes(sightings))
    return list(found.orderBy("decided_at").collect())


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
