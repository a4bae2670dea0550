"""Frames as the transforms see them, without a capture folder or a table in between."""

from collections.abc import Iterable

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from wireloom.capture.frame import CapturedFrame, to_batch
from wireloom.pipeline.decoding import decode_batch
from wireloom.pipeline.transforms.sightings import sightings
from wireloom.pipeline.verdicts import CHECKED, SCHEMA, judge


def decoded(frames: list[CapturedFrame]) -> pa.Table:
    """Frames, decoded; their sequence numbers are their places in the list."""
    return pa.Table.from_batches([decode_batch(to_batch(frames, first_sequence=0))])


def seen(spark: SparkSession, frames: list[CapturedFrame], keys: Iterable[bytes] = ()) -> DataFrame:
    """The sightings of good frames, with what their proofs say."""
    table = decoded(frames)
    good = table.filter(pa.compute.is_null(table["reason"]))
    known = list(keys)
    verdicts = {
        (protocol, content): str(judge(protocol, raw, known))
        for protocol, content, raw in zip(
            good["protocol"].to_pylist(),
            good["content"].to_pylist(),
            good["raw"].to_pylist(),
            strict=True,
        )
        if protocol in CHECKED
    }
    rows = [(*key, None, auth, 0) for key, auth in verdicts.items()]
    judged = pa.Table.from_pylist(
        [dict(zip(SCHEMA.names, row, strict=True)) for row in rows], schema=SCHEMA
    )
    frame = spark.createDataFrame(good.drop_columns(["reason", "detail", "offset"]))
    return sightings(frame, spark.createDataFrame(judged))
