"""`swarm_messages`: every CONTENT of a UEP-12 swarm, who refers to it and who has it.

A node has a message that it composed or sent, and one that came in and that it did not refuse.
References count from messages with a proof of work only: without it they cost nothing to make.
"""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.protocols.uep12.constants import DEFAULT_EPOCH_MS

TABLE: Final = Table(
    "swarm_messages",
    "One row a CONTENT message and UEP-12 swarm: its place in the graph, and who has it.",
    (
        Column("swarm", "string", "The swarm; null if the capture does not name it."),
        Column("message_id", "string", "The message's hash, hex."),
        Column("created_ms", "bigint", "When it was composed, by its sender.", "ms since 1970"),
        Column("ttl_epoch", "bigint", "Its lifetime; 0 lives one epoch.", "epochs"),
        Column("epoch_ms", "bigint", "The swarm's epoch.", "ms"),
        Column("expires_ms", "bigint", "When its lifetime ends.", "ms since 1970"),
        Column(
            "references",
            "array<struct<msg_hash:string,epoch_diff:bigint>>",
            "The messages it refers to; `epoch_diff` is its expiry minus theirs, in epochs.",
        ),
        Column("referrers", "bigint", "Messages with a proof of work that refer to it."),
        Column("holders", "array<string>", "The nodes that have it."),
        Column("pow_ok", "boolean", "Whether its proof of work holds."),
        Column("sightings", "bigint", "How often it was captured."),
        Column("first_seen", "timestamp", "Its first sighting.", "UTC"),
        Column("first_node", "string", "Where it was seen first."),
    ),
    ("swarm", "message_id"),
)

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        "auth",
        "captured_at",
        "created_ms",
        "epoch_ms",
        "message_id",
        "node",
        "outcome",
        "protocol",
        "sighting",
        "swarm",
        "type",
        "uep12.references",
        "uep12.ttl_epoch",
    ),
    protocol="uep12",
    types=("CONTENT",),
)

_KEPT: Final = "coalesce(outcome not in ('rejected', 'expired', 'cancelled'), true)"
_MAX: Final = (1 << 63) - 1


def instant(milliseconds: str) -> str:
    """A SQL expression over decimals as a time that fits a column, whatever epochs are claimed."""
    return f"cast(greatest(0, least({milliseconds}, {_MAX})) as bigint)"


_EXPIRES: Final = instant("created_ms + cast(greatest(1, ttl_epoch) as decimal(10, 0)) * epoch_ms")
_MESSAGES: Final = f"""
    select *, {_EXPIRES} as expires_ms
    from (select swarm, message_id, min_by(created_ms, best) as created_ms,
                 min_by(uep12.ttl_epoch, best) as ttl_epoch,
                 coalesce(min_by(epoch_ms, best), {DEFAULT_EPOCH_MS}) as epoch_ms,
                 min_by(uep12.`references`, best) as `references`,
                 array_sort(collect_set(if({_KEPT}, node, null))) as holders,
                 bool_or(auth = 'valid') as pow_ok, count(*) as sightings,
                 min(captured_at) as first_seen,
                 min_by(node, struct(captured_at, sighting)) as first_node
          from (select *, struct(auth <> 'valid', captured_at, sighting) as best
                from {{s}} where protocol = 'uep12' and type = 'CONTENT')
          group by swarm, message_id)
"""  # noqa: S608

_WITH_REFERRERS: Final = """
    select m.*, coalesce(r.referrers, 0) as referrers
    from {m} m left join (
        select swarm, referred, count(distinct message_id) as referrers
        from (select swarm, message_id, explode(`references`.msg_hash) as referred
              from {m} where pow_ok)
        group by swarm, referred
    ) r on m.swarm <=> r.swarm and m.message_id = r.referred
"""


def swarm_messages(sightings: DataFrame) -> DataFrame:
    """The messages of all swarms in `sightings`."""
    spark = sightings.sparkSession
    return spark.sql(_WITH_REFERRERS, m=spark.sql(_MESSAGES, s=sightings))
