"""`hub_topics`: which topics are in use, by whom, and whether anybody listens."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.hub import COLUMNS, hub_messages

TABLE: Final = Table(
    "hub_topics",
    "One row for each topic that was published or subscribed to.",
    (
        Column("topic", "string", "The topic's exact name."),
        Column("publications", "bigint", "Messages published."),
        Column("publishers", "bigint", "Distinct senders of them."),
        Column("bytes", "bigint", "Bytes of their frames.", "bytes"),
        Column("first_at", "timestamp", "The first publication.", "UTC"),
        Column("last_at", "timestamp", "The latest.", "UTC"),
        Column("deliveries", "bigint", "Subscribers reached, summed over all publications."),
        Column("unheard", "bigint", "Publications that the hub says reached nobody."),
        Column("subscriptions", "bigint", "Distinct subscriptions that the hub made."),
        Column("active", "bigint", "Those that nobody ended."),
        Column("durable", "bigint", "Those that outlive their connection."),
    ),
    ("topic",),
)

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        *COLUMNS,
        "signalhub.correlation_id",
        "signalhub.payload.durable",
        "signalhub.payload.subscriber_count",
        "signalhub.payload.subscription_id",
        "signalhub.payload.topic",
    ),
    protocol="signalhub",
    types=(
        "hub:publish",
        "hub:published",
        "hub:subscribe",
        "hub:subscribed",
        "hub:unsubscribe",
    ),
)

_USES: Final = """
    select hub.payload.topic as topic, 'publish' as use, captured_at, source, size,
           cast(null as bigint) as reached, cast(null as string) as subscription,
           false as ended, false as durable
    from {m} where type = 'hub:publish'
    union all
    select hub.payload.topic, 'published', captured_at, null, null, hub.payload.subscriber_count,
           null, false, false
    from {m} where type = 'hub:published'
    union all
    select s.hub.payload.topic, 'subscribed', s.captured_at, null, null, null,
           s.hub.payload.subscription_id, coalesce(e.ended_at >= s.captured_at, false),
           coalesce(q.hub.payload.durable, false)
    from {m} s
    left join {m} q on q.message_id = s.hub.correlation_id and q.type = 'hub:subscribe'
    left join (select hub.payload.subscription_id as id, max(captured_at) as ended_at from {m}
               where type = 'hub:unsubscribe' group by all) e
        on e.id = s.hub.payload.subscription_id
    where s.type = 'hub:subscribed'
"""

_TOPICS: Final = """
    select topic, count_if(use = 'publish') as publications, count(distinct source) as publishers,
           coalesce(sum(size), 0) as bytes,
           min(captured_at) filter (where use = 'publish') as first_at,
           max(captured_at) filter (where use = 'publish') as last_at,
           coalesce(try_sum(reached), 0) as deliveries, count_if(reached = 0) as unheard,
           count(distinct subscription) as subscriptions,
           count(distinct if(ended, null, subscription)) as active,
           count(distinct if(durable, subscription, null)) as durable
    from {u}
    group by topic
"""
"""A subscription that is made again after its end, under the same name, is active."""


def hub_topics(sightings: DataFrame) -> DataFrame:
    """The topics in use."""
    spark = sightings.sparkSession
    return spark.sql(_TOPICS, u=spark.sql(_USES, m=hub_messages(sightings)))
