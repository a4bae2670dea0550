"""Rows of `fates` for transforms that go on from there."""

from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from support.nodes import NOW_MS
from wireloom.capture.frame import CapturedFrame
from wireloom.pipeline.transforms.fates import TABLE


def fate(
    frames: list[CapturedFrame],
    protocol: str,
    message_id: str,
    state: str,
    proof: int | None,
    **more: Any,
) -> dict[str, Any]:
    """One row, decided by the frame at the place `proof`."""
    row = {"protocol": protocol, "message_id": message_id, "state": state, **more}
    if proof is not None:
        frame = frames[proof]
        row["evidence_frame"] = f"{frame.node}#{proof}"
        row["decided_at"] = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(
            microseconds=frame.captured_at
        )
        row.setdefault("evidence_kind", "wire")
        row["latency_ms"] = frame.captured_at // 1000 - NOW_MS
    return row


def fates_of(spark: SparkSession, rows: list[dict[str, Any]]) -> DataFrame:
    """The table with these rows."""
    names = [column.name for column in TABLE.columns]
    return spark.createDataFrame(
        [tuple(row.get(name) for name in names) for row in rows], TABLE.schema
    )
