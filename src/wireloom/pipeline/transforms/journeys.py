"""`journeys`: the way of every message, node by node."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.accountable import HAS_FATE
from wireloom.pipeline.transforms.evidence import accountable_columns

TABLE: Final = Table(
    "journeys",
    "One row for each message that has a fate and each node that saw it. What a hub forwards "
    "counts as the message that it was sent as.",
    (
        Column("protocol", "string", "The protocol."),
        Column("message_id", "string", "The message's identity."),
        Column("step", "int", "The node's place on the way, from 1: composer, then by hops."),
        Column("node", "string", "The node."),
        Column("link", "string", "How it arrived; at its composer, how it left."),
        Column("came_from", "string", "From whom it arrived."),
        Column("went_to", "array<string>", "To whom it left, sorted."),
        Column("arrived_at", "timestamp", "When it first came or was composed there.", "UTC"),
        Column("left_at", "timestamp", "When it first left.", "UTC"),
        Column("dwell_ms", "bigint", "How long it stayed; null if it came or left unseen.", "ms"),
        Column("hops", "bigint", "The fewest hops that a sighting there shows."),
        Column("outcome", "string", "What the node says became of it, when it first said so."),
        Column("sightings", "bigint", "How often the node saw it."),
    ),
    ("protocol", "message_id", "node"),
)

SCOPE: Final = Scope(
    By.MESSAGE,
    looks_at=(
        *accountable_columns(),
        "auth",
        "captured_at",
        "direction",
        "hops",
        "link",
        "message_id",
        "node",
        "outcome",
        "peer",
        "protocol",
        "reply_to",
        "sighting",
        "type",
    ),
)

_SEEN: Final = f"""
    select protocol, message_id, node, link, direction, peer, captured_at, sighting, hops, outcome
    from {{s}} where auth <> 'invalid' and message_id is not null and ({HAS_FATE})
    union all
    select protocol, reply_to, node, link, direction, peer, captured_at, sighting, hops, outcome
    from {{s}} where protocol = 'signalhub' and not startswith(type, 'hub:')
                 and direction in ('in', 'out') and reply_to is not null
"""  # noqa: S608

_STAYS: Final = """
    select protocol, message_id, node, min(hops) as hops, count(*) as sightings,
           coalesce(min_by(link, at) filter (where direction = 'in'),
                    min_by(link, at) filter (where direction = 'out'), min_by(link, at)) as link,
           min_by(peer, at) filter (where direction = 'in') as came_from,
           array_sort(collect_set(peer) filter (where direction = 'out')) as went_to,
           min(captured_at) filter (where direction <> 'out') as arrived_at,
           min(captured_at) filter (where direction = 'out') as left_at,
           min_by(outcome, at) filter (where outcome is not null) as outcome,
           min(at) as first, coalesce(bool_or(direction = 'local'), false) as composed
    from (select *, struct(captured_at, sighting) as at from {seen})
    group by protocol, message_id, node
"""

_JOURNEYS: Final = """
    select *,
           case when arrived_at is not null and left_at is not null
                then greatest(0, unix_millis(left_at) - unix_millis(arrived_at)) end as dwell_ms,
           row_number() over (partition by protocol, message_id
                              order by not composed, hops nulls first, first, node) as step
    from {stays}
"""


def journeys(sightings: DataFrame) -> DataFrame:
    """Where each message was, in order."""
    spark = sightings.sparkSession
    stays = spark.sql(_STAYS, seen=spark.sql(_SEEN, s=sightings))
    return spark.sql(_JOURNEYS, stays=stays)
