"""The messages that somebody meant to be delivered, and to whom.

Chatter that keeps a protocol alive has no fate. A message of which every copy is proven
false has none either: nobody who is entitled to it sent it.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from wireloom.protocols.cthun.messages import TYPES as BROKER_TYPES
from wireloom.protocols.myriadmesh.constants import (
    ACK_TIMEOUT_MS,
    CACHE_MS,
    LORA_ACK_TIMEOUT_MS,
)
from wireloom.protocols.signalhub.constants import SEND_TTL_MS
from wireloom.protocols.uep12.constants import DEFAULT_EPOCH_MS

FAR_MS: Final = 2**62
"""A deadline that no capture passes: lifetimes from outside may be any number."""

BROKER: Final = ", ".join(f"'{name}'" for name in sorted(BROKER_TYPES))
REPORT: Final = "http://puppetlabs.com/destination_report"

OWED: Final = f"""
    (protocol = 'signalhub' and type in ('hub:send', 'hub:publish', 'hub:broadcast'))
    or (protocol = 'cthun' and type not in ({BROKER}))
    or (protocol = 'dtn' and type in ('Data', 'GroupInviteMsg', 'GroupUpdateMsg', 'ConfigUpdate'))
    or (protocol = 'myriadmesh' and type = 'DATA')
    or (protocol = 'uep12' and type = 'CONTENT')
"""

_CACHE_BY_RANK: Final = " ".join(
    f"when {rank} then {CACHE_MS[band]}"
    for rank, band in enumerate(sorted(CACHE_MS, key=int, reverse=True))
)

DEADLINE: Final = f"""
    case protocol
        when 'signalhub' then cast(created_ms as decimal(20, 0)) + coalesce(ttl, {SEND_TTL_MS})
        when 'myriadmesh' then cast(created_ms as decimal(20, 0)) + case
            when queued then case priority_rank {_CACHE_BY_RANK} end
            when lora then {LORA_ACK_TIMEOUT_MS}
            else {ACK_TIMEOUT_MS} end
        when 'uep12' then created_ms + cast(greatest(1, ttl_epoch) as decimal(20, 0))
            * coalesce(epoch_ms, {DEFAULT_EPOCH_MS})
        else expires_ms end
"""

_FIRST: Final = (
    "source",
    "type",
    "cast",
    "destination",
    "targets",
    "created_ms",
    "expires_ms",
    "priority_rank",
    "swarm",
    "epoch_ms",
)
_ROW: Final = (
    "protocol",
    "message_id",
    "destination",
    "source",
    "type",
    "cast",
    "sent_at",
    "created_ms",
    "deadline_ms",
    "hops",
    "copies",
    "attempts",
)
_NAMED: Final = f"type = '{REPORT}' and direction = 'out'"
_COMPOSED: Final = "case direction when 'local' then 0 when 'out' then 1 else 2 end"

_PATTERN: Final = "concat('^', replace(replace(target, '.', '[.]'), '*', '[^/]*'), '$')"
_MATCHED: Final = f"filter(flatten(uris), uri -> uri rlike {_PATTERN})"
_FOUND: Final = f"""
    if(contains(target, '*') and exists(flatten(uris), uri -> uri rlike {_PATTERN}),
       {_MATCHED}, array(target))
"""
_DESTINATIONS: Final = f"""
    case protocol
        when 'cthun' then array_distinct(flatten(transform(targets, target -> {_FOUND})))
        when 'uep12' then filter(coalesce(members, array()), member -> member <> composer)
        when 'dtn' then array(destination)
        else array(if(cast in ('broadcast', 'topic'), null, destination)) end
"""
"""For whom a message is.

Each target of a Cthun message; a wildcard stands for those whom the broker named or served, else
for itself. Each node that took part in a swarm but for the one that composed the message. Else the
one destination, or nobody that could be named.
"""


def accountable(sightings: DataFrame, nodes: DataFrame) -> DataFrame:
    """One row for each message and destination, with its deadline."""
    attempts = "greatest(1, size(filter(sent_by, node -> node = composer)))"
    owed = _messages(sightings)
    members = _members(nodes)
    return (
        owed.join(f.broadcast(members), owed["swarm"].eqNullSafe(members["in_swarm"]), "left")
        .withColumns(
            {
                "deadline_ms": f.expr(f"cast(least({DEADLINE}, {FAR_MS}) as bigint)"),
                "attempts": f.expr(attempts),
                "destination": f.explode(f.expr(_DESTINATIONS)),
            }
        )
        .select(*_ROW)
    )


def _messages(sightings: DataFrame) -> DataFrame:
    """One row a message, with what the broker says of whom it reached."""
    own = f"auth <> 'invalid' and message_id is not null and ({OWED})"
    uris = f"""case when {_NAMED} then cthun.data.targets
        when protocol = 'cthun' and direction = 'out' then array(peer) end"""
    first = f.struct("captured_at", "sighting", *_FIRST)
    composed = f.struct(f.expr(f"{_COMPOSED} as rank"), "captured_at", "sighting", "node")
    mine = f.col("mine")
    grouped = (
        sightings.where(f"({own}) or ({_NAMED})")
        .withColumns(
            {
                "mine": f.expr(f"coalesce({own}, false)"),
                "message_id": f.expr(f"if({_NAMED}, reply_to, message_id)"),
            }
        )
        .groupBy("protocol", "message_id")
        .agg(
            f.min(f.when(mine, first)).alias("first"),
            f.min(f.when(mine, composed)).alias("composed"),
            f.max(f.when(mine, f.col("hops"))).alias("hops"),
            f.count(f.when(mine, 1)).alias("copies"),
            f.expr("collect_list(if(mine and direction = 'out', node, null))").alias("sent_by"),
            f.expr("coalesce(bool_or(mine and outcome = 'queued'), false)").alias("queued"),
            f.expr("bool_or(mine and startswith(link, 'lora'))").alias("lora"),
            f.max("signalhub.ttl").alias("ttl"),
            f.max("uep12.ttl_epoch").alias("ttl_epoch"),
            f.expr(f"collect_set({uris})").alias("uris"),
        )
    )
    return grouped.where("first is not null").select(
        "*",
        *[f.col(f"first.{name}").alias(name) for name in _FIRST],
        f.col("first.captured_at").alias("sent_at"),
        f.col("composed.node").alias("composer"),
    )


def _members(nodes: DataFrame) -> DataFrame:
    """Who took part in each swarm; one may have no name."""
    swarms = "if(unnamed_swarm, array_append(swarms, cast(null as string)), swarms)"
    return (
        nodes.where("protocol = 'uep12'")
        .selectExpr("node", f"explode({swarms}) as in_swarm")
        .groupBy("in_swarm")
        .agg(f.collect_set("node").alias("members"))
    )
