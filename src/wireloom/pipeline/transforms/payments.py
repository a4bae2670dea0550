"""`payments`: DTN payments that their payers signed, and nonces that were used twice.

A payer uses a nonce once. The first time that a payment is seen it is paid. The same payment in
another frame is a replay, whoever sends it; the same nonce for something else is a double
spending. Copies of one frame on its way are neither.
"""

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "payments",
    "One row a frame that carries a valid DTN payment, whatever the number of its sightings.",
    (
        Column("payer", "string", "Public key of who pays, hex."),
        Column("payee", "string", "Public key of who is paid, hex."),
        Column("amount", "decimal(20,0)", "How much."),
        Column("nonce", "decimal(20,0)", "The number that this payer may use once."),
        Column("verdict", "string", "`paid`, `replay` or `double_spend`."),
        Column("message_id", "string", "The bundle; null for a payment by itself."),
        Column("content", "string", "As in `frames`."),
        Column("sender", "string", "UID of who sent it, hex."),
        Column("first_seen", "timestamp", "Its first sighting.", "UTC"),
        Column("first_node", "string", "Where it was seen first."),
        Column("sightings", "bigint", "How often it was captured."),
        Column("nodes", "bigint", "At how many nodes."),
    ),
    ("content",),
)

_TERMS: Final = ("payer", "nonce", "payee", "amount", "extra")


def payments(sightings: DataFrame) -> DataFrame:
    """The payments in `sightings`, by payer and nonce in the order of their first sightings."""
    order = Window.partitionBy("payer", "nonce").orderBy("first_seen", "content")
    terms = f.struct("payee", "amount", "extra")
    verdict = (
        f.when(f.row_number().over(order) == 1, "paid")
        .when(f.first(terms).over(order) == terms, "replay")
        .otherwise("double_spend")
    )
    return _presented(sightings).withColumn("verdict", verdict)


def _presented(sightings: DataFrame) -> DataFrame:
    first = f.struct("captured_at", "sighting")
    return (
        sightings.where("protocol = 'dtn' and type = 'Payment' and auth = 'valid'")
        .withColumns({name: f.col(f"dtn.payload.{name}") for name in _TERMS})
        .withColumn("nonce", f.expr("try_cast(nonce as decimal(20, 0))"))
        .groupBy("content", *_TERMS)
        .agg(
            f.min_by("message_id", first).alias("message_id"),
            f.min_by("source", first).alias("sender"),
            f.min("captured_at").alias("first_seen"),
            f.min_by("node", first).alias("first_node"),
            f.count(f.lit(1)).alias("sightings"),
            f.countDistinct("node").alias("nodes"),
        )
    )
