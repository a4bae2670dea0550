"""`subscriptions`: who listens to which DTN topic.

A SubMsg carries no signature; its bundle's vouches for it, so the subscriber is the bundle's
source and one without a bundle is nobody's. The latest word of a subscriber on a topic counts,
by the subscriber's own clock; of two at the same instant the one that ends the subscription.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "subscriptions",
    "One row a subscriber and topic: the latest valid SubMsg, and what holds at the horizon.",
    (
        Column("subscriber", "string", "UID of the bundle's source, hex."),
        Column("topic_id", "string", "The topic, hex."),
        Column("state", "string", "`subscribed` or `unsubscribed`."),
        Column("ended_by", "string", "`request` or `expiry`; null while subscribed."),
        Column("changed_ms", "bigint", "When the latest was made.", "ms since 1970"),
        Column("expires_ms", "bigint", "When it ends by itself; null for never.", "ms since 1970"),
        Column("message_id", "string", "The bundle that decides."),
        Column("messages", "bigint", "Distinct bundles of this subscriber on this topic."),
        Column("first_seen", "timestamp", "The first sighting of any.", "UTC"),
        Column("last_seen", "timestamp", "The last one.", "UTC"),
    ),
    ("subscriber", "topic_id"),
)

_LATEST: Final = ("action", "changed_ms", "expires_ms", "message_id")


def subscriptions(sightings: DataFrame, horizon_ms: int) -> DataFrame:
    """The subscriptions in `sightings`.

    Args:
        sightings: All frames, with `auth`.
        horizon_ms: The latest capture.
    """
    requests = sightings.where(
        "protocol = 'dtn' and type = 'SubMsg' and auth = 'valid'"
    ).selectExpr(
        "source as subscriber",
        "dtn.payload.topic_id",
        "dtn.payload.action",
        "dtn.payload.timestamp as changed_ms",
        "dtn.payload.expires_at as expires_ms",
        "message_id",
        "captured_at",
    )
    order = f.struct("changed_ms", f.col("action") == "UNSUBSCRIBE", "message_id")
    ended_by = f.when(f.col("action") == "UNSUBSCRIBE", "request").when(
        f.col("expires_ms") <= horizon_ms, "expiry"
    )
    return (
        requests.groupBy("subscriber", "topic_id")
        .agg(
            *[f.max_by(name, order).alias(name) for name in _LATEST],
            f.countDistinct("message_id").alias("messages"),
            f.min("captured_at").alias("first_seen"),
            f.max("captured_at").alias("last_seen"),
        )
        .withColumn("ended_by", ended_by)
        .withColumn("state", f.expr("if(ended_by is null, 'subscribed', 'unsubscribed')"))
    )
