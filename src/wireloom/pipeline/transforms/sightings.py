"""Sightings with what is known of their authenticity: the input of every other transform."""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from wireloom.wire.outcome import Auth

BELIEVED: Final = (Auth.VALID.value, Auth.UNCHECKED.value)
"""What proves something on the wire: a check that held, or a proof outside the frame."""


def sightings(frames: DataFrame, verdicts: DataFrame) -> DataFrame:
    """Frames, batched ones included, with `auth`, and `believed` where it may serve as evidence."""
    known = verdicts.select("protocol", "content", "auth")
    judged = frames.join(known, ["protocol", "content"], "left")
    auth = f.coalesce(f.col("auth"), f.lit(Auth.UNCHECKED.value))
    return judged.withColumn("auth", auth).withColumn("believed", auth.isin(*BELIEVED))
