"""What a node did against what its bytes deserve."""

from pathlib import Path

from pyspark.sql import SparkSession

from support.nodes import ANN, BOB, KEYS, TEXT, captured, forged, frame
from support.spark import seen
from support.tables import rows
from wireloom.lake import Lake
from wireloom.pipeline import frame_tables
from wireloom.pipeline.transforms.disagreements import TABLE, disagreements
from wireloom.wire.outcome import Outcome


def test_forged_frames_that_a_node_took_are_there(spark: SparkSession) -> None:
    true = frame(1, ANN, BOB, TEXT)
    frames = [
        captured("myriadmesh", true, 0, BOB, outcome=Outcome.DELIVERED),
        captured("myriadmesh", forged(true), 1, BOB, outcome=Outcome.DELIVERED),
        captured("myriadmesh", forged(true), 2, BOB, outcome=Outcome.REJECTED),
    ]
    refused = spark.createDataFrame([], frame_tables.quarantine().schema)
    found = rows(TABLE, disagreements(seen(spark, frames, KEYS), refused))
    assert [(row["sighting"], row["pipeline_says"], row["pipeline_reason"]) for row in found] == [
        ("bob#1", "rejected", "bad_signature")
    ]


def test_what_both_agree_on_is_not(tables: Path) -> None:
    (found,) = Lake(tables).rows(
        """SELECT count(*) AS n FROM disagreements JOIN quarantine USING (sighting)
           WHERE quarantine.outcome = 'rejected'"""
    )
    assert found["n"] == 0
