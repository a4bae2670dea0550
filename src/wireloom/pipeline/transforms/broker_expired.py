"""`broker_expired`: messages whose time ran out in the broker (Cthun)."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "broker_expired",
    "One row for each message that a broker reported or recorded as expired. A report that its "
    "receiver refused does not count.",
    (
        Column("message_id", "string", "The message's identity."),
        Column("type", "string", "The message type; null if only the report was captured."),
        Column("source", "string", "Who sent the message, or whom the report was for."),
        Column("targets", "array<string>", "For whom it was."),
        Column("unreached", "array<string>", "Targets without wildcard that it never left for."),
        Column("sent_at", "timestamp", "Its first sighting.", "UTC"),
        Column("expires_at", "timestamp", "When its time ran out.", "UTC"),
        Column("expired_at", "timestamp", "When the broker first said so.", "UTC"),
        Column("waited_ms", "bigint", "From sent to expired, not below 0.", "ms"),
        Column("late_ms", "bigint", "From the end of its time to the broker's word.", "ms"),
        Column(
            "reported",
            "boolean",
            "Whether the sender was told; else it had gone, or the broker only recorded it.",
        ),
    ),
    ("message_id",),
)

SCOPE: Final = Scope(
    By.MESSAGE,
    looks_at=(
        "captured_at",
        "direction",
        "expires_ms",
        "message_id",
        "outcome",
        "peer",
        "protocol",
        "reply_to",
        "sighting",
        "source",
        "targets",
        "type",
    ),
    protocol="cthun",
)

_EXPIRED: Final = """
    select id as message_id, min(captured_at) as expired_at, bool_or(told) as reported,
           min_by(sender, at) filter (where sender is not null) as told_to
    from (select reply_to as id, captured_at, direction <> 'local' as told,
                 get(targets, 0) as sender, struct(captured_at, sighting) as at
          from {s} where type = 'http://puppetlabs.com/ttl_expired' and protocol = 'cthun'
            and coalesce(outcome, '') <> 'rejected'
          union all
          select message_id, captured_at, false, null, struct(captured_at, sighting)
          from {s} where protocol = 'cthun' and outcome = 'expired')
    where id is not null
    group by id
"""

_MESSAGES: Final = """
    select message_id, min_by(struct(type, source, targets, expires_ms), at) as first,
           min(captured_at) as sent_at,
           collect_set(peer) filter (where direction = 'out') as reached
    from (select *, struct(captured_at, sighting) as at from {s}
          where protocol = 'cthun' and coalesce(outcome, '') <> 'rejected')
    group by message_id
"""

_ALL: Final = """
    select e.*, m.first.type, coalesce(m.first.source, e.told_to) as source, m.first.targets,
           m.sent_at, timestamp_millis(m.first.expires_ms) as expires_at,
           filter(m.first.targets,
                  t -> not contains(t, '*') and not array_contains(m.reached, t)) as unreached,
           if(m.sent_at is null, null,
              greatest(0, unix_millis(e.expired_at) - unix_millis(m.sent_at))) as waited_ms,
           unix_millis(e.expired_at) - m.first.expires_ms as late_ms
    from {e} e left join {m} m on m.message_id = e.message_id
"""


def broker_expired(sightings: DataFrame) -> DataFrame:
    """What expired, and how long it had waited."""
    spark = sightings.sparkSession
    expired = spark.sql(_EXPIRED, s=sightings)
    return spark.sql(_ALL, e=expired, m=spark.sql(_MESSAGES, s=sightings))
