"""`receptions`: one row a frame that came in, first, repeated or refused."""

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "receptions",
    "One row a frame that came in at a node: the first of its content there, a duplicate of it, "
    "or one that a check refuses.",
    (
        Column("sighting", "string", "As in `frames`."),
        Column("captured_at", "timestamp", "When it came.", "UTC"),
        Column("node", "string", "Where it came."),
        Column("peer", "string", "From whom."),
        Column("link", "string", "On which link."),
        Column("protocol", "string", "The protocol."),
        Column("type", "string", "The message type."),
        Column("message_id", "string", "The message's identity."),
        Column("content", "string", "As in `frames`."),
        Column("auth", "string", "What its signature or proof of work says."),
        Column("verdict", "string", "`first`, `duplicate` or `rejected`."),
        Column("outcome", "string", "What the node says became of it."),
        Column("outcome_reason", "string", "Why the node refused it."),
    ),
    ("sighting",),
)


def receptions(sightings: DataFrame) -> DataFrame:
    """What came in, judged independently of what the nodes say."""
    order = Window.partitionBy("protocol", "node", "content").orderBy("captured_at", "sighting")
    verdict = (
        f.when(f.col("auth") == "invalid", "rejected")
        .when(f.row_number().over(order) == 1, "first")
        .otherwise("duplicate")
    )
    return sightings.where("direction = 'in'").withColumn("verdict", verdict)
