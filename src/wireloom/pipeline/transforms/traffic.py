"""`traffic`: what was on the wire, minute by minute, raw and without repeats."""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "traffic",
    "Frames by minute, protocol, type and cast: all of them, and distinct ones.",
    (
        Column("minute", "timestamp", "The minute, by the capture clock.", "UTC"),
        Column("protocol", "string", "The protocol."),
        Column("type", "string", "The message type; null for refused frames."),
        Column("cast", "string", "How many it is meant for."),
        Column("frames", "bigint", "Sightings."),
        Column("distinct_frames", "bigint", "Distinct contents."),
        Column("bytes", "bigint", "Bytes of all sightings.", "bytes"),
        Column("outcomes", "map<string,bigint>", "Sightings by what nodes say became of them."),
        Column(
            "reasons", "map<string,bigint>", "Refusals by reason: the nodes' and the decoder's."
        ),
        Column("top_talkers", "array<string>", "The five sources with most frames."),
    ),
    ("minute", "protocol", "type", "cast"),
)

_GROUP: Final = ("minute", "protocol", "type", "cast")


def traffic(sightings: DataFrame, quarantine: DataFrame) -> DataFrame:
    """All sightings, decoded and refused, counted."""
    wanted = "captured_at, protocol, type, cast, size, content, outcome, source"
    good = sightings.selectExpr(*wanted.split(", "), "outcome_reason as reason")
    bad = quarantine.selectExpr(
        "captured_at", "protocol", "cast(null as string) as type", "cast(null as string) as cast",
        "size", "content", "outcome", "cast(null as string) as source", "reason",
    )  # fmt: skip
    rows = good.union(bad).withColumn("minute", f.date_trunc("minute", "captured_at"))
    talkers = (
        rows.where("source is not null")
        .groupBy(*_GROUP, "source")
        .agg(f.count(f.lit(1)).alias("n"))
        .groupBy(*_GROUP)
        .agg(
            f.expr("slice(array_sort(collect_list(struct(-n as n, source))), 1, 5).source").alias(
                "top_talkers"
            )
        )
    )
    counted = rows.groupBy(*_GROUP).agg(
        f.count(f.lit(1)).alias("frames"),
        f.countDistinct("content").alias("distinct_frames"),
        f.sum("size").alias("bytes"),
    )
    for column, name in (("outcome", "outcomes"), ("reason", "reasons")):
        counted = _join(counted, _tally(rows, column, name))
    return _join(counted, talkers)


def _tally(rows: DataFrame, column: str, name: str) -> DataFrame:
    return (
        rows.where(f"{column} is not null")
        .groupBy(*_GROUP, column)
        .agg(f.count(f.lit(1)).alias("n"))
        .groupBy(*_GROUP)
        .agg(f.expr(f"map_from_entries(array_sort(collect_list(struct({column}, n))))").alias(name))
    )


def _join(left: DataFrame, right: DataFrame) -> DataFrame:
    same = [left[name].eqNullSafe(right[name]) for name in _GROUP]
    extra = [name for name in right.columns if name not in _GROUP]
    return left.join(right, same, "left").select(left["*"], *[right[name] for name in extra])
