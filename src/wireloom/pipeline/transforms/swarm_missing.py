"""`swarm_missing` and `swarms`: what swarms refer to and do not have.

A node misses what a message that it has refers to, as long as it does not have that. A swarm
misses what none of its nodes has: these rows have no node. Until a message expires, others
may still send it; afterwards nobody serves it any more, and it is gone.

When a message expires that nobody has seen follows from the `epoch_diff` of those that refer to
it, as far as whole epochs tell; the latest of their answers counts.
"""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.swarm_messages import TABLE as SWARM_MESSAGES
from wireloom.pipeline.transforms.swarm_messages import instant

TABLE: Final = Table(
    "swarm_missing",
    "One row a message that a node, or a whole UEP-12 swarm, knows by reference only.",
    (
        Column("swarm", "string", "The swarm."),
        Column("node", "string", "The node that lacks it; null if no node has it."),
        Column("message_id", "string", "The message's hash, hex."),
        Column(
            "state", "string", "`missing` while unexpired at the horizon, else `irretrievable`."
        ),
        Column(
            "expires_ms", "bigint", "When its lifetime ends, if unseen: about.", "ms since 1970"
        ),
        Column("referrers", "bigint", "Messages there that refer to it."),
        Column("holders", "array<string>", "The nodes that have it."),
    ),
    ("swarm", "node", "message_id"),
)

SWARMS: Final = Table(
    "swarms",
    "One row a node of a UEP-12 swarm, and one for the whole swarm: whether it has everything.",
    (
        Column("swarm", "string", "The swarm."),
        Column("node", "string", "The node; null for the whole swarm."),
        Column("messages", "bigint", "Messages with a proof of work that are there."),
        Column("missing", "bigint", "Messages that can still be had."),
        Column("gone", "bigint", "Messages that nobody serves any more."),
        Column("status", "string", "`synced`, or how many are missing and gone."),
    ),
    ("swarm", "node"),
)

SCOPE: Final = Scope(By.WHOLE, made_of=(SWARM_MESSAGES,), has_horizon=True)
SWARMS_SCOPE: Final = Scope(By.WHOLE, made_of=(SWARM_MESSAGES, TABLE))

_PROMISED: Final = instant("expires_ms - cast(reference.epoch_diff as decimal(10, 0)) * epoch_ms")


def swarm_missing(messages: DataFrame, horizon_ms: int) -> DataFrame:
    """What is referred to and not there.

    Args:
        messages: The table `swarm_messages`.
        horizon_ms: The latest capture.
    """
    return messages.sparkSession.sql(
        f"""
        with wanted as (
            select swarm, node, reference.msg_hash as message_id,
                   count(distinct message_id) as referrers, max({_PROMISED}) as promised_ms
            from (select swarm, node, message_id, expires_ms, epoch_ms,
                         explode(`references`) as reference from {{held}})
            group by swarm, node, reference.msg_hash)
        select w.swarm, w.node, w.message_id, w.referrers,
               coalesce(m.expires_ms, w.promised_ms) as expires_ms,
               coalesce(m.holders, array()) as holders,
               case when :horizon_ms < coalesce(m.expires_ms, w.promised_ms)
                    then 'missing' else 'irretrievable' end as state
        from wanted w
        left anti join {{held}} o
            on o.swarm <=> w.swarm and o.node <=> w.node and o.message_id = w.message_id
        left join (select * from {{m}} where pow_ok) m
            on m.swarm <=> w.swarm and m.message_id = w.message_id
        """,  # noqa: S608
        {"horizon_ms": horizon_ms},
        held=_held(messages),
        m=messages,
    )


def swarms(messages: DataFrame, missing: DataFrame) -> DataFrame:
    """How far each node and each swarm is.

    Args:
        messages: The table `swarm_messages`.
        missing: The table `swarm_missing`.
    """
    return messages.sparkSession.sql(
        """
        with there as (select swarm, node, count(*) as messages from {held} group by swarm, node),
        lacking as (
            select swarm, node, count_if(state = 'missing') as missing,
                   count_if(state = 'irretrievable') as gone
            from {missing} group by swarm, node)
        select t.swarm, t.node, t.messages, coalesce(l.missing, 0) as missing,
               coalesce(l.gone, 0) as gone,
               case when l.missing is null then 'synced'
                    else concat_ws(', ', if(l.missing > 0, l.missing || ' missing', null),
                                         if(l.gone > 0, l.gone || ' gone', null)) end as status
        from there t left join lacking l on t.swarm <=> l.swarm and t.node <=> l.node
        """,
        held=_held(messages),
        missing=missing,
    )


_HELD: Final = """
    select *, explode(concat(holders, array(cast(null as string)))) as node
    from {m} where pow_ok and size(holders) > 0
"""


def _held(messages: DataFrame) -> DataFrame:
    """A row for each node that has a message, and one without a node if there are any."""
    return messages.sparkSession.sql(_HELD, m=messages)
