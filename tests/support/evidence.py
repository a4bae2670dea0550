"""What frames prove, by the fate rules."""

from typing import Any

from pyspark.sql import Row, SparkSession

from support.nodes import KEYS, NOW_MS
from support.spark import seen
from support.tables import rows
from wireloom.capture.frame import CapturedFrame
from wireloom.pipeline.transforms.claims import CLAIMS
from wireloom.pipeline.transforms.fates import TABLE, fates
from wireloom.pipeline.transforms.nodes import nodes


def claimed(spark: SparkSession, frames: list[CapturedFrame]) -> list[Row]:
    """The claims of these frames, in the order of their captures."""
    sightings = seen(spark, frames, KEYS)
    found = spark.sql(CLAIMS, sightings=sightings, nodes=nodes(sightings))
    return list(found.orderBy("decided_at").collect())


def decided(spark: SparkSession, frames: list[CapturedFrame]) -> dict[str, dict[str, Any]]:
    """The fates of what these frames show, long after all deadlines, by the message's id."""
    return {row["message_id"]: row for row in all_decided(spark, frames)}


def all_decided(spark: SparkSession, frames: list[CapturedFrame]) -> list[dict[str, Any]]:
    """The same for messages that have several destinations."""
    sightings = seen(spark, frames, KEYS)
    return rows(TABLE, fates(sightings, nodes(sightings), NOW_MS + 10**9))
