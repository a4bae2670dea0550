"""First, duplicate or rejected."""

from pathlib import Path

from pyspark.sql import SparkSession

from support.letters import ack, send
from support.spark import seen
from support.tables import rows
from wireloom.lake import Lake
from wireloom.pipeline.transforms.receptions import TABLE, receptions


def test_the_second_copy_is_a_duplicate_and_what_goes_out_is_none(spark: SparkSession) -> None:
    frames = [send(10, at=5), send(10), ack(11, 10, at=9)]
    found = rows(TABLE, receptions(seen(spark, frames)))
    assert {row["sighting"]: row["verdict"] for row in found} == {
        "hub-1#0": "duplicate",
        "hub-1#1": "first",
    }


def test_receptions_are_first_duplicate_or_rejected(tables: Path) -> None:
    lake = Lake(tables)
    verdicts = {row["verdict"] for row in lake.rows("SELECT DISTINCT verdict FROM receptions")}
    assert verdicts == {"first", "duplicate", "rejected"}
    (found,) = lake.rows(
        """SELECT (SELECT count(*) FROM receptions) AS r, count(*) AS n
           FROM (SELECT direction FROM frames UNION ALL SELECT direction FROM batched)
           WHERE direction = 'in'"""
    )
    assert found["r"] == found["n"]
