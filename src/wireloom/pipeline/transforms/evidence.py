"""What proves the fate of a message: messages on the wire, and what nodes say they did.

Only what is verified proves anything: a signature that holds, or a hub's and a broker's word as
it leaves them. What a client sends *to* them in their name is not theirs. Each row names the
message, the destination it speaks for (null: all of them), the state, and the sighting.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

_SIGNALHUB: Final = """
    select reply_to as message_id, cast(null as string) as for_destination, 'delivered' as proven,
           cast(null as string) as reason, 'wire' as evidence_kind, sighting, captured_at
    from {w} where type = 'hub:delivery_ack' and signalhub.payload.status = 'delivered'
    union all
    select reply_to, null, 'delivered', null, 'wire', sighting, captured_at
    from {w} where type in ('hub:published', 'hub:broadcast_ack')
    union all
    select reply_to, destination, 'delivered', null, 'wire', sighting, captured_at
    from {s} where protocol = 'signalhub' and not startswith(type, 'hub:') and direction = 'out'
    union all
    select reply_to, null,
           case when code in ('timeout', 'message_expired') then 'expired' else 'rejected' end,
           case code when 'timeout' then null when 'message_expired' then null
                when 'unknown_actor' then 'unknown_destination' when 'message_too_large' then
                    'too_large'
                when 'version_mismatch' then 'unsupported_version'
                when 'internal_error' then
                    case when about = 'invalid_message' then 'malformed' else 'internal' end
                else code end,
           'wire', sighting, captured_at
    from (select *, case type when 'hub:error' then signalhub.payload.code else substring(type,
        5) end as code,
                 get_json_object(signalhub.payload.details, '$.reason') as about from {w}
          where type in ('hub:error', 'hub:unknown_actor', 'hub:unauthorized', 'hub:rate_limited',
                         'hub:message_too_large'))
"""

_CTHUN: Final = """
    select message_id, peer as for_destination, 'delivered' as proven, cast(null as string) as
        reason,
           'wire' as evidence_kind, sighting, captured_at
    from {s} where protocol = 'cthun' and direction = 'out' and not startswith(type,
        'http://puppetlabs.com/')
    union all
    select reply_to, null, 'expired', null, 'wire', sighting, captured_at
    from {w} where type = 'http://puppetlabs.com/ttl_expired'
    union all
    select reply_to, null, 'rejected',
           case when contains(lower(cthun.data.description), 'not authenticated') then
               'unauthenticated'
                when contains(lower(cthun.data.description), 'not authorized') then 'unauthorized'
                else 'malformed' end, 'wire', sighting, captured_at
    from {w} where type = 'http://puppetlabs.com/error_message' and reply_to is not null
"""

_DTN: Final = """
    select o.message_id, o.destination as for_destination, 'delivered' as proven,
           cast(null as string) as reason, 'wire' as evidence_kind, s.sighting, s.captured_at
    from {s} s join {o} o on s.reply_to = o.message_id and o.protocol = 'dtn'
    where s.type = 'DeliveryAck' and s.auth = 'valid'
      and (o.cast in ('topic', 'cluster')
           or s.dtn.payload.from_uid in (o.destination, sha2(unhex(o.destination), 256)))
    union all
    select o.message_id, null,
           case s.dtn.payload.reason when 'RECALLED' then 'cancelled' when 'EXPIRED' then 'expired'
                else 'delivered' end, null, 'wire', s.sighting, s.captured_at
    from {s} s join {o} o on s.reply_to = o.message_id and o.protocol = 'dtn'
    where s.type = 'DeliveryCancel' and s.auth = 'valid'
      and case s.dtn.payload.reason
          when 'ACKED' then s.dtn.payload.issued_by_uid in (o.destination,
              sha2(unhex(o.destination), 256))
          else s.dtn.payload.issued_by_uid = o.source end
    union all
    select o.message_id, o.destination, 'delivered', null, 'witness', s.sighting, s.captured_at
    from {s} s join {o} o on s.message_id = o.message_id and o.protocol = 'dtn' and s.protocol =
        'dtn'
    left join {i} i on i.node = s.node and i.protocol = 'dtn' and i.identity in (o.destination)
    where s.outcome in ('delivered', 'acked') and (i.node is not null or o.cast in ('topic',
        'cluster'))
    union all
    select o.message_id, null, 'expired', null, 'witness', s.sighting, s.captured_at
    from {s} s join {o} o on s.message_id = o.message_id and o.protocol = 'dtn' and s.protocol =
        'dtn'
    join {i} i on i.node = s.node and i.protocol = 'dtn' and i.identity = o.source
    where s.outcome = 'expired'
"""

_MYRIADMESH: Final = """
    select o.message_id, o.destination as for_destination, 'delivered' as proven,
           cast(null as string) as reason, 'wire' as evidence_kind, s.sighting, s.captured_at
    from {s} s join {o} o on s.reply_to = o.message_id and o.protocol = 'myriadmesh'
    where s.protocol = 'myriadmesh' and s.auth = 'valid' and s.source = o.destination
      and s.myriadmesh.payload.ack_type in ('RECEIVED', 'DELIVERED')
    union all
    select reply_to, null, 'rejected',
           case when myriadmesh.payload.ack_type = 'FAILED' then 'no_route'
                else element_at(map(
                    'INVALID_SIGNATURE', 'bad_signature', 'DECRYPTION_FAILED', 'decrypt_failed',
                    'UNKNOWN_DESTINATION', 'unknown_destination', 'TTL_EXCEEDED', 'ttl_exceeded',
                    'PAYLOAD_TOO_LARGE', 'too_large', 'UNSUPPORTED_VERSION', 'unsupported_version',
                    'RATE_LIMIT_EXCEEDED', 'rate_limited', 'NODE_UNAVAILABLE', 'no_route'),
                    myriadmesh.payload.error_code) end, 'wire', sighting, captured_at
    from {s} where protocol = 'myriadmesh' and auth = 'valid'
      and (myriadmesh.payload.error_code is not null or myriadmesh.payload.ack_type = 'FAILED')
    union all
    select o.message_id, o.destination,
           case when s.outcome = 'rejected' then 'rejected' else 'delivered' end,
           case when s.outcome = 'rejected' then s.outcome_reason end, 'witness', s.sighting,
               s.captured_at
    from {s} s join {o} o on s.message_id = o.message_id and o.protocol = 'myriadmesh'
    join {i} i on i.node = s.node and i.protocol = 'myriadmesh' and i.identity = o.destination
    where s.protocol = 'myriadmesh' and s.auth <> 'invalid' and s.outcome in ('delivered',
        'acked', 'rejected')
    union all
    select o.message_id, null, 'delivered', null, 'witness', s.sighting, s.captured_at
    from {s} s join {o} o on s.message_id = o.message_id and o.protocol = 'myriadmesh'
    left join {i} i on i.node = s.node and i.protocol = 'myriadmesh' and i.identity = o.source
    where s.protocol = 'myriadmesh' and o.destination is null and s.outcome = 'delivered' and
        i.node is null
"""

_UEP12: Final = """
    select message_id, node as for_destination,
           case when outcome in ('delivered', 'accepted') then 'delivered' else outcome end as
               proven,
           case when outcome = 'rejected' then outcome_reason end as reason,
           'witness' as evidence_kind, sighting, captured_at
    from {s} where protocol = 'uep12' and type = 'CONTENT'
      and outcome in ('delivered', 'accepted', 'rejected', 'expired')
"""

_ALL: Final = {
    "signalhub": _SIGNALHUB,
    "cthun": _CTHUN,
    "dtn": _DTN,
    "myriadmesh": _MYRIADMESH,
    "uep12": _UEP12,
}


def evidence(sightings: DataFrame, owed: DataFrame) -> DataFrame:
    """All that proves something about the messages in `owed`."""
    spark = sightings.sparkSession
    known = identities(sightings)
    words = served(sightings)
    rows = [
        spark.sql(
            f"select '{protocol}' as protocol, message_id, for_destination, proven, reason, "  # noqa: S608
            f"evidence_kind, sighting as evidence_frame, captured_at as decided_at from ({query})",
            s=sightings,
            o=owed,
            i=known,
            w=words,
        )
        for protocol, query in _ALL.items()
    ]
    joined = rows[0]
    for more in rows[1:]:
        joined = joined.union(more)
    return joined.where("message_id is not null")


def served(sightings: DataFrame) -> DataFrame:
    """Hub and broker messages but for those that came *in* at a hub or a broker."""
    servers = sightings.where(
        "direction = 'in' and type in ('hub:connect', 'http://puppetlabs.com/associate_request')"
    ).selectExpr("node as server")
    talk = sightings.where("protocol in ('cthun', 'signalhub')")
    same = f.col("server") == f.col("node")
    received = f.col("direction") == "in"
    return talk.join(servers.distinct(), same & received, "left_anti")


def identities(sightings: DataFrame) -> DataFrame:
    """Who a node is in a protocol: the sender of what was composed there."""
    return (
        sightings.where("direction = 'local' and source is not null and auth <> 'invalid'")
        .where("protocol in ('dtn', 'myriadmesh')")
        .selectExpr("protocol", "node", "source as identity")
        .distinct()
    )
