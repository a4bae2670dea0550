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

_FIRST: Final = [
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
]
_COMPOSED: Final = "case direction when 'local' then 0 when 'out' then 1 else 2 end"
_ROW: Final = [
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
]


def accountable(sightings: DataFrame) -> DataFrame:
    """One row for each message and destination, with its deadline."""
    attempts = "greatest(1, size(filter(sent_by, node -> node = composer)))"
    deadline = f"cast(least({DEADLINE}, {FAR_MS}) as bigint)"
    owed = _messages(sightings).withColumn("deadline_ms", f.expr(deadline))
    owed = owed.withColumn("attempts", f.expr(attempts))
    return (
        _one_each(owed)
        .select(_ROW)
        .union(_cthun(owed.where("protocol = 'cthun'"), sightings).select(_ROW))
        .union(_uep12(owed.where("protocol = 'uep12'"), sightings).select(_ROW))
    )


def _messages(sightings: DataFrame) -> DataFrame:
    order = f.struct("captured_at", "sighting")
    composed = f.struct(f.expr(_COMPOSED), "captured_at", "sighting")
    return (
        sightings.where(f"auth <> 'invalid' and message_id is not null and ({OWED})")
        .groupBy("protocol", "message_id")
        .agg(
            *[f.min_by(name, order).alias(name) for name in _FIRST],
            f.min("captured_at").alias("sent_at"),
            f.max("hops").alias("hops"),
            f.countDistinct("sighting").alias("copies"),
            f.expr("collect_list(if(direction = 'out', node, null))").alias("sent_by"),
            f.expr("coalesce(bool_or(outcome = 'queued'), false)").alias("queued"),
            f.bool_or(f.col("link").startswith("lora")).alias("lora"),
            f.max("signalhub.ttl").alias("ttl"),
            f.max("uep12.ttl_epoch").alias("ttl_epoch"),
            f.min_by("node", composed).alias("composer"),
        )
    )


def _one_each(owed: DataFrame) -> DataFrame:
    """Messages with one destination, or with nobody that could be named."""
    nobody = "protocol <> 'dtn' and cast in ('broadcast', 'topic')"
    return owed.where("protocol in ('dtn', 'myriadmesh', 'signalhub')").withColumn(
        "destination", f.expr(f"case when {nobody} then null else destination end")
    )


def _cthun(owed: DataFrame, sightings: DataFrame) -> DataFrame:
    """Each target; a wildcard stands for those whom the broker named or served, else itself."""
    targets = owed.withColumn("target", f.explode("targets"))
    named = sightings.where(f"type = '{REPORT}' and direction = 'out'").select(
        f.col("reply_to").alias("message_id"), f.explode("cthun.data.targets").alias("uri")
    )
    served = sightings.where(
        f"protocol = 'cthun' and direction = 'out' and type not in ({BROKER})"
    ).select("message_id", f.col("peer").alias("uri"))
    uris = named.union(served).groupBy("message_id").agg(f.collect_set("uri").alias("uris"))
    pattern = "concat('^', replace(replace(target, '.', '[.]'), '*', '[^/]*'), '$')"
    matches = f"filter(coalesce(uris, array()), uri -> uri rlike {pattern})"
    found = f"case when contains(target, '*') then {matches} else array() end"
    return (
        targets.join(uris, "message_id", "left")
        .withColumn("found", f.expr(found))
        .withColumn("found", f.expr("if(size(found) = 0, array(target), found)"))
        .withColumn("destination", f.explode("found"))
        .dropDuplicates(["message_id", "destination"])
    )


def _uep12(owed: DataFrame, sightings: DataFrame) -> DataFrame:
    """Each node that took part in the swarm, but for the one that composed the message."""
    members = (
        sightings.where("protocol = 'uep12'")
        .selectExpr("swarm as in_swarm", "node as member")
        .distinct()
    )
    return owed.join(members, f.expr("swarm <=> in_swarm and member <> composer")).withColumn(
        "destination", f.col("member")
    )
