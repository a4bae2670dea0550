"""`receptions`: one row a frame that came in, first, repeated or refused."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
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

SCOPE: Final = Scope(
    By.CONTENT,
    looks_at=(
        "auth",
        "captured_at",
        "content",
        "direction",
        "link",
        "message_id",
        "node",
        "outcome",
        "outcome_reason",
        "peer",
        "protocol",
        "sighting",
        "type",
    ),
)


_RECEPTIONS: Final = """
    select *,
           case when auth = 'invalid' then 'rejected'
                when row_number() over (partition by protocol, node, content
                                        order by captured_at, sighting) = 1 then 'first'
                else 'duplicate' end as verdict
    from {s} where direction = 'in'
"""


def receptions(sightings: DataFrame) -> DataFrame:
    """What came in, judged independently of what the nodes say."""
    return sightings.sparkSession.sql(_RECEPTIONS, s=sightings)
