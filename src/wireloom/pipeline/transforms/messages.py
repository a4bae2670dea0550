"""`messages`: one row a message, whatever the number of its sightings."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.accountable import APP_TYPE
from wireloom.pipeline.transforms.evidence import app_type_columns
from wireloom.pipeline.transforms.hub import APP_TYPE_MEANING

TABLE: Final = Table(
    "messages",
    "One row a message: what its frames agree on, and whether they disagree.",
    (
        Column("protocol", "string", "The protocol."),
        Column("message_id", "string", "The message's identity."),
        Column("type", "string", "The message type."),
        Column("app_type", "string", APP_TYPE_MEANING),
        Column("source", "string", "Who sent it."),
        Column("destination", "string", "For whom it is."),
        Column("targets", "array<string>", "For whom it is, where that is a list."),
        Column("cast", "string", "How many it is meant for."),
        Column("created_ms", "bigint", "When it was made, by its sender's clock.", "ms since 1970"),
        Column("expires_ms", "bigint", "When its lifetime ends.", "ms since 1970"),
        Column("priority_rank", "int", "0 (most urgent) to 4."),
        Column("reply_to", "string", "The message that it answers."),
        Column("auth", "string", "The best that is known of its authenticity."),
        Column("contents", "bigint", "Distinct contents that are not proven false."),
        Column("conflict", "boolean", "Whether one id has two contents."),
        Column("sightings", "bigint", "How often it was captured."),
        Column("nodes", "bigint", "At how many nodes."),
        Column("first_seen", "timestamp", "Its first sighting.", "UTC"),
        Column("last_seen", "timestamp", "Its last sighting.", "UTC"),
        Column("first_node", "string", "Where it was seen first."),
        Column("max_hops", "bigint", "The most hops that a sighting shows."),
        Column("size", "bigint", "Bytes of its first frame.", "bytes"),
    ),
    ("protocol", "message_id"),
)

SCOPE: Final = Scope(
    By.MESSAGE,
    looks_at=(
        *app_type_columns(),
        "auth",
        "captured_at",
        "cast",
        "content",
        "created_ms",
        "destination",
        "expires_ms",
        "hops",
        "message_id",
        "node",
        "priority_rank",
        "protocol",
        "reply_to",
        "sighting",
        "size",
        "source",
        "targets",
        "type",
    ),
)

_FIRST: Final = (
    "type",
    "source",
    "destination",
    "targets",
    "cast",
    "created_ms",
    "expires_ms",
    "priority_rank",
    "reply_to",
    "size",
    "auth",
)
_MESSAGES: Final = f"""
with grouped as (
    select protocol, message_id,
           min(struct(array_position(
               array('valid', 'unchecked', 'unsigned', 'unknown_key', 'invalid'), auth) as rank,
               captured_at, sighting, {", ".join(_FIRST)}, {APP_TYPE} as app_type)) as best,
           min(struct(captured_at, sighting, node)) as first,
           size(collect_set(if(auth <> 'invalid', content, null))) as contents,
           size(collect_set(node)) as nodes, count(1) as sightings,
           max(captured_at) as last_seen, max(hops) as max_hops
    from {{sightings}} where message_id is not null group by protocol, message_id)
select protocol, message_id, {", ".join(f"best.{name}" for name in _FIRST)}, best.app_type,
       contents, contents > 1 as conflict, sightings, nodes, first.captured_at as first_seen,
       last_seen, first.node as first_node, max_hops
from grouped
"""  # noqa: S608


def messages(sightings: DataFrame) -> DataFrame:
    """The messages in `sightings`; a forged copy does not speak where there is a better one."""
    return sightings.sparkSession.sql(_MESSAGES, sightings=sightings)
