"""`configs`: the settings that managers issued over DTN, in the order of their versions.

A ConfigUpdate counts if its issuer's own signature holds; whether a node trusts the issuer is
the node's to say. Versions count up: only the greatest of an issuer is in force, and when that
is void none is.
"""

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "configs",
    "One row a valid ConfigUpdate of a DTN manager, whatever the number of bundles it came in.",
    (
        Column("issuer_key", "string", "Public key of the manager, hex."),
        Column("issuer", "string", "The manager's UID, hex."),
        Column("version", "decimal(20,0)", "Counts up for each issuer."),
        Column("flags", "string", "The settings by name, as JSON."),
        Column("issued_ms", "bigint", "When it was issued, by its issuer.", "ms since 1970"),
        Column("expires_ms", "bigint", "When it is void; null for never.", "ms since 1970"),
        Column("state", "string", "`current`, `expired` at the horizon, or `superseded`."),
        Column("conflict", "boolean", "Whether the issuer gave the version to another one too."),
        Column("previous_version", "decimal(20,0)", "The next lower version that was seen."),
        Column("in_order", "boolean", "Whether no lower version was issued after this one."),
        Column("bundles", "bigint", "Distinct frames that carried it."),
        Column("nodes", "bigint", "At how many nodes it was seen."),
        Column("first_seen", "timestamp", "Its first sighting.", "UTC"),
    ),
    ("issuer_key", "version", "flags", "issued_ms", "expires_ms"),
)


def configs(sightings: DataFrame, horizon_ms: int) -> DataFrame:
    """The updates in `sightings`.

    Args:
        sightings: All frames, with `auth`.
        horizon_ms: The latest capture.
    """
    issuer = Window.partitionBy("issuer_key")
    lower = issuer.orderBy("version").rangeBetween(Window.unboundedPreceding, -1)
    state = (
        f.when(f.col("version") < f.max("version").over(issuer), "superseded")
        .when(f.col("expires_ms") <= horizon_ms, "expired")
        .otherwise("current")
    )
    last_issued = f.coalesce(f.max("issued_ms").over(lower), f.col("issued_ms"))
    same = Window.partitionBy("issuer_key", "version")
    return (
        _issued(sightings)
        .withColumn("state", state)
        .withColumn("conflict", f.count(f.lit(1)).over(same) > 1)
        .withColumn("previous_version", f.max("version").over(lower))
        .withColumn("in_order", last_issued <= f.col("issued_ms"))
    )


def _issued(sightings: DataFrame) -> DataFrame:
    """Each update once; fields that this version does not know tell updates apart, too."""
    return (
        sightings.where("protocol = 'dtn' and type = 'ConfigUpdate' and auth = 'valid'")
        .selectExpr(
            "dtn.payload.issuer_key",
            "dtn.payload.version",
            "dtn.payload.flags",
            "dtn.payload.issued_at_ms as issued_ms",
            "dtn.payload.expires_at_ms as expires_ms",
            "dtn.payload.extra",
            "content",
            "node",
            "captured_at",
        )
        .groupBy("issuer_key", "version", "flags", "issued_ms", "expires_ms", "extra")
        .agg(
            f.countDistinct("content").alias("bundles"),
            f.countDistinct("node").alias("nodes"),
            f.min("captured_at").alias("first_seen"),
        )
        .withColumn("issuer", f.sha2(f.unhex("issuer_key"), 256))
    )
