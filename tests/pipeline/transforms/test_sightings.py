"""Sightings with their verdicts."""

from pyspark.sql import SparkSession

from support.letters import send
from support.spark import seen


def test_what_has_no_verdict_is_unchecked_and_believed(spark: SparkSession) -> None:
    (row,) = seen(spark, [send(10)]).select("auth", "believed").collect()
    assert (row.auth, row.believed) == ("unchecked", True)
