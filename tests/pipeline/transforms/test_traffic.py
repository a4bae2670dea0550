"""Traffic: nothing is left out, nothing counted twice."""

from pathlib import Path

from pyspark.sql import SparkSession

from support.letters import ALICE, ack, send
from support.spark import seen
from support.tables import rows
from wireloom.lake import Lake
from wireloom.pipeline import frame_tables
from wireloom.pipeline.transforms.traffic import TABLE, traffic


def test_frames_are_counted_raw_and_distinct(spark: SparkSession) -> None:
    frames = [send(10), send(10, at=1), ack(11, 10, at=2)]
    refused = spark.createDataFrame([], frame_tables.quarantine().schema)
    found = {row["type"]: row for row in rows(TABLE, traffic(seen(spark, frames), refused))}
    sent = found["hub:send"]
    assert (sent["frames"], sent["distinct_frames"], sent["cast"]) == (2, 1, "unicast")
    assert sent["outcomes"] == {"accepted": 2}
    assert sent["top_talkers"] == [ALICE]
    assert sent["reasons"] is None


def test_every_captured_frame_is_in_the_traffic(tables: Path) -> None:
    (found,) = Lake(tables).rows(
        """SELECT (SELECT sum(frames) FROM traffic) AS counted,
                  (SELECT count(*) FROM frames) + (SELECT count(*) FROM batched)
                  + (SELECT count(*) FROM quarantine) AS seen"""
    )
    assert found["counted"] == found["seen"]
