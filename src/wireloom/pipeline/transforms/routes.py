"""`routes`: which first hop brings messages to a destination, learned from what became of them.

The first hop is the node that takes a message from its composer. A delivered bundle's
receipt tells the path, and so the hop that deserves the credit; without a path it is the last
one that was tried before the proof. A message that comes to nothing counts against every
first hop that it was given to.
"""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.fates import TABLE as FATES
from wireloom.pipeline.transforms.nodes import TABLE as NODES
from wireloom.pipeline.transforms.nodes import identities

TABLE: Final = Table(
    "routes",
    "How messages fare by destination and first hop (DTN and MyriadMesh).",
    (
        Column("protocol", "string", "`dtn` or `myriadmesh`."),
        Column("destination", "string", "For whom the messages were."),
        Column(
            "first_hop",
            "string",
            "Who took them from their composer: UID or node id where it is known, else its name "
            "as captured.",
        ),
        Column("successes", "bigint", "Messages that were delivered this way."),
        Column("losses", "bigint", "Messages given to it that were lost, expired or had no route."),
        Column("latency_p50_ms", "double", "Latency of the delivered, the median.", "ms"),
        Column("latency_p90_ms", "double", "The same, for nine of ten.", "ms"),
        Column("latency_p99_ms", "double", "The same, for 99 of 100.", "ms"),
        Column("score", "double", "(successes + 1) / (successes + losses + 2).", "0 to 1"),
        Column("last_success_at", "timestamp", "The latest proof of a delivery.", "UTC"),
        Column("h3r5_cells", "array<string>", "Where receipts came from: H3 of resolution 5, hex."),
        Column("h3r7_cells", "array<string>", "The same, of resolution 7."),
    ),
    ("protocol", "destination", "first_hop"),
)

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        "auth",
        "captured_at",
        "destination",
        "direction",
        "dtn.header.src_pub",
        "dtn.payload.ack_h3r5",
        "dtn.payload.ack_h3r7",
        "dtn.payload.path",
        "dtn.payload.to_uid",
        "message_id",
        "node",
        "peer",
        "protocol",
        "reply_to",
        "sighting",
        "source",
        "type",
    ),
    made_of=(
        NODES,
        FATES,
    ),
)

_HANDED: Final = """
    select s.protocol, s.message_id, s.captured_at as at, coalesce(p.identity, s.peer) as hop
    from {s} s
    join {i} c on c.protocol = s.protocol and c.node = s.node and c.identity = s.source
    left join {n} p on p.protocol = s.protocol and p.node = s.peer
    where s.direction = 'out' and s.auth <> 'invalid' and s.peer is not null
    union all
    select a.protocol, a.reply_to, a.captured_at, a.source
    from {s} a join (select distinct message_id, source, dtn.header.src_pub as key
                     from {s} where protocol = 'dtn' and auth = 'valid') b
        on b.message_id = a.reply_to and a.destination in (b.source, b.key)
    where a.type = 'HopAck' and a.protocol = 'dtn' and a.auth = 'valid'
"""
"""Whom a composer gave a message to: by its own capture, or by the receipt it got for it."""

_NAMES: Final = """
    select protocol, node, min(identity) as identity from {i} group by protocol, node
"""

_KEYS: Final = """
    select distinct dtn.header.src_pub as key, source as uid
    from {s} where protocol = 'dtn' and auth = 'valid' and dtn.header.src_pub is not null
"""

_RECEIPTS: Final = """
    select a.sighting, a.h3r5, a.h3r7, coalesce(k.uid, a.first) as credited
    from (select sighting,
                 lower(hex(try_cast(dtn.payload.ack_h3r5 as bigint))) as h3r5,
                 lower(hex(try_cast(dtn.payload.ack_h3r7 as bigint))) as h3r7,
                 get(filter(dtn.payload.path.node,
                            n -> n is not null and n <> dtn.payload.to_uid
                                 and sha2(unhex(n), 256) <> dtn.payload.to_uid), 0) as first
          from {s} where protocol = 'dtn' and type = 'DeliveryAck' and auth = 'valid') a
    left join {k} k on k.key = a.first
"""
"""Of a path, the first node that is not the composer itself."""

_WAYS: Final = """
    select f.protocol, f.message_id, f.destination, f.latency_ms, f.decided_at,
           f.state = 'delivered' as arrived, r.h3r5, r.h3r7,
           case when r.credited is not null then array(r.credited)
                when f.state <> 'delivered' then collect_set(h.hop)
                else array(coalesce(max_by(h.hop, struct(h.at, h.hop))
                                        filter (where h.at <= f.decided_at),
                                    min_by(h.hop, struct(h.at, h.hop)))) end as hops
    from {f} f
    left join {h} h on h.protocol = f.protocol and h.message_id = f.message_id
    left join {r} r on r.sighting = f.evidence_frame and f.state = 'delivered'
    where f.protocol in ('dtn', 'myriadmesh') and f.destination is not null
      and (f.state in ('delivered', 'lost', 'expired') or f.reason in ('no_route', 'ttl_exceeded'))
    group by f.protocol, f.message_id, f.destination, f.latency_ms, f.decided_at, f.state,
             r.h3r5, r.h3r7, r.credited
"""

_ROUTES: Final = """
    select protocol, destination, first_hop, count_if(arrived) as successes,
           count_if(not arrived) as losses,
           percentile(latency_ms, 0.5) filter (where arrived) as latency_p50_ms,
           percentile(latency_ms, 0.9) filter (where arrived) as latency_p90_ms,
           percentile(latency_ms, 0.99) filter (where arrived) as latency_p99_ms,
           (count_if(arrived) + 1) / (count(*) + 2) as score,
           max(decided_at) filter (where arrived) as last_success_at,
           array_sort(collect_set(h3r5)) as h3r5_cells,
           array_sort(collect_set(h3r7)) as h3r7_cells
    from {w} lateral view explode(hops) as first_hop
    where first_hop is not null
    group by protocol, destination, first_hop
"""


def routes(sightings: DataFrame, nodes: DataFrame, fates: DataFrame) -> DataFrame:
    """What `fates` teach about the first hops of messages."""
    spark = sightings.sparkSession
    known = identities(nodes)
    names = spark.sql(_NAMES, i=known)
    handed = spark.sql(_HANDED, s=sightings, i=known, n=names)
    receipts = spark.sql(_RECEIPTS, s=sightings, k=spark.sql(_KEYS, s=sightings))
    return spark.sql(_ROUTES, w=spark.sql(_WAYS, f=fates, h=handed, r=receipts))
