"""`deliveries`: how each delivered message came to where it should be."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.fates import SINCE
from wireloom.pipeline.transforms.fates import TABLE as FATES

TABLE: Final = Table(
    "deliveries",
    "One row for each message and destination that `fates` calls delivered; a publication or "
    "broadcast has one row, with its recipients counted.",
    (
        Column("protocol", "string", "The protocol."),
        Column("message_id", "string", "The message's identity."),
        Column("destination", "string", "For whom it was; null where nobody can be named."),
        Column("source", "string", "Who sent it."),
        Column("type", "string", "The message type."),
        Column("sent_at", "timestamp", "Its first sighting.", "UTC"),
        Column("delivered_at", "timestamp", "When the proof of delivery was captured.", "UTC"),
        Column("latency_ms", "bigint", SINCE.format("delivered"), "ms"),
        Column("skew_ms", "bigint", "By how much delivered lies before that, else 0.", "ms"),
        Column("reported_ms", "bigint", "The latency that the destination reports (DTN).", "ms"),
        Column("hops", "bigint", "The destination's count (DTN), else the most a sighting shows."),
        Column("retries", "bigint", "How often it was sent again over a hop that had sent it."),
        Column("copies", "bigint", "Distinct sightings."),
        Column(
            "ack_type",
            "string",
            "What proves it: the acknowledging message's type, for MyriadMesh the type of its ACK; "
            "`forwarded` if the message was seen leaving for its destination; `witness` for a "
            "node's word.",
        ),
        Column("transport", "string", "How it came, by the destination's word (DTN)."),
        Column(
            "recipients",
            "bigint",
            "Who has it: 1; of a publication or broadcast as many as the hub counts, or as were "
            "seen to get it if that is more.",
        ),
        Column("queued", "bigint", "Recipients that will get a hub broadcast later."),
        Column("failed", "bigint", "Recipients that will not get a hub broadcast."),
    ),
    ("protocol", "message_id", "destination"),
)

SCOPE: Final = Scope(
    By.MESSAGE,
    looks_at=(
        "auth",
        "cast",
        "destination",
        "direction",
        "dtn.payload.hop_count",
        "dtn.payload.latency_ms",
        "dtn.payload.transport_hint",
        "link",
        "message_id",
        "myriadmesh.payload.ack_type",
        "node",
        "outcome",
        "peer",
        "protocol",
        "reply_to",
        "sighting",
        "signalhub.payload.delivered_count",
        "signalhub.payload.failed_count",
        "signalhub.payload.message_id",
        "signalhub.payload.queued_count",
        "signalhub.payload.subscriber_count",
        "type",
    ),
    made_of=(FATES,),
    mentions=("signalhub.payload.message_id",),
)

_RESENT: Final = """
    select protocol, message_id,
           greatest(sum(if(direction = 'out', again, 0)), sum(if(direction = 'in', again, 0)))
               as retries
    from (select protocol, message_id, direction, count(*) - 1 as again from {s}
          where auth <> 'invalid' and direction in ('in', 'out') and message_id is not null
          group by protocol, message_id, node, peer, link, direction)
    group by protocol, message_id
"""
"""A transmission is seen where it leaves, where it arrives, or at both ends: one end counts."""

_COUNTED: Final = """
    select protocol, id as message_id, max(counted) as counted, max(queued) as queued,
           max(failed) as failed, count(distinct reached) as reached
    from (select protocol, coalesce(reply_to, signalhub.payload.message_id) as id,
                 coalesce(signalhub.payload.subscriber_count, signalhub.payload.delivered_count)
                     as counted,
                 signalhub.payload.queued_count as queued, signalhub.payload.failed_count as failed,
                 if(startswith(type, 'hub:'), null, destination) as reached
          from {s} where protocol = 'signalhub'
            and (type in ('hub:published', 'hub:broadcast_ack')
                 or (not startswith(type, 'hub:') and direction = 'out'))
          union all
          select protocol, message_id, null, null, null, node from {s}
          where protocol = 'myriadmesh' and cast = 'broadcast' and auth <> 'invalid'
            and direction = 'in' and outcome = 'delivered')
    group by protocol, id
"""

_DELIVERED: Final = """
    select d.* except (hops), d.decided_at as delivered_at, e.dtn.payload.latency_ms as reported_ms,
           coalesce(try_cast(e.dtn.payload.hop_count as int), d.hops) as hops,
           coalesce(r.retries, 0) as retries, e.dtn.payload.transport_hint as transport,
           case when d.evidence_kind = 'witness' then 'witness'
                when e.protocol = 'myriadmesh' then e.myriadmesh.payload.ack_type
                when e.message_id = d.message_id then 'forwarded'
                when e.protocol = 'signalhub' and not startswith(e.type, 'hub:') then 'forwarded'
                else e.type end as ack_type,
           case when d.destination is not null then 1
                else greatest(coalesce(c.counted, 0), coalesce(c.reached, 0)) end as recipients,
           if(d.destination is null, c.queued, null) as queued,
           if(d.destination is null, c.failed, null) as failed
    from (select * from {f} where state = 'delivered') d
    left join {s} e on e.sighting = d.evidence_frame
    left join {r} r on r.protocol = d.protocol and r.message_id = d.message_id
    left join {c} c on c.protocol = d.protocol and c.message_id = d.message_id
"""


def deliveries(sightings: DataFrame, fates: DataFrame) -> DataFrame:
    """The delivered among `fates`, with what their proofs and sightings add."""
    spark = sightings.sparkSession
    resent = spark.sql(_RESENT, s=sightings)
    counted = spark.sql(_COUNTED, s=sightings)
    return spark.sql(_DELIVERED, f=fates, s=sightings, r=resent, c=counted)
