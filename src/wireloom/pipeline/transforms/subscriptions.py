"""`subscriptions`: who listens to which DTN topic.

A SubMsg carries no signature; its bundle's vouches for it, so the subscriber is the bundle's
source and one without a bundle is nobody's. The latest word of a subscriber on a topic counts,
by the subscriber's own clock; of two at the same instant the one that ends the subscription.
"""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
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

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        "auth",
        "captured_at",
        "dtn.payload.action",
        "dtn.payload.expires_at",
        "dtn.payload.timestamp",
        "dtn.payload.topic_id",
        "message_id",
        "protocol",
        "source",
        "type",
    ),
    protocol="dtn",
    types=("SubMsg",),
    has_horizon=True,
)

_SUBSCRIPTIONS: Final = """
    with requests as (
        select source as subscriber, dtn.payload.topic_id, dtn.payload.action,
               dtn.payload.timestamp as changed_ms, dtn.payload.expires_at as expires_ms,
               message_id, captured_at
        from {s} where protocol = 'dtn' and type = 'SubMsg' and auth = 'valid'),
    latest as (
        select subscriber, topic_id, max_by(action, at) as action,
               max_by(changed_ms, at) as changed_ms, max_by(expires_ms, at) as expires_ms,
               max_by(message_id, at) as message_id, count(distinct message_id) as messages,
               min(captured_at) as first_seen, max(captured_at) as last_seen
        from (select *, struct(changed_ms, action = 'UNSUBSCRIBE', message_id) as at from requests)
        group by subscriber, topic_id)
    select *, if(ended_by is null, 'subscribed', 'unsubscribed') as state
    from (select *, case when action = 'UNSUBSCRIBE' then 'request'
                         when expires_ms <= :horizon_ms then 'expiry' end as ended_by
          from latest)
"""


def subscriptions(sightings: DataFrame, horizon_ms: int) -> DataFrame:
    """The subscriptions in `sightings`.

    Args:
        sightings: All frames, with `auth`.
        horizon_ms: The latest capture.
    """
    return sightings.sparkSession.sql(_SUBSCRIPTIONS, {"horizon_ms": horizon_ms}, s=sightings)
