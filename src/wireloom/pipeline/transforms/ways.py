"""`ways`: which first hops each message was given to, and whether it arrived that way.

The first hop is the node that takes a message from its composer. A delivered bundle's
receipt tells the path, and so the hop that deserves the credit; without a path it is the last
one that was tried before the proof. A message that comes to nothing counts against every
first hop that it was given to.
"""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.judged_tables import KEYS
from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.fates import TABLE as FATES
from wireloom.pipeline.transforms.nodes import TABLE as NODES
from wireloom.pipeline.transforms.nodes import identities

TABLE: Final = Table(
    "ways",
    "One row for each message and destination of DTN and MyriadMesh whose fate says something of "
    "the way it took. `routes` sums them up by destination and first hop.",
    (
        Column("protocol", "string", "`dtn` or `myriadmesh`."),
        Column("message_id", "string", "The message."),
        Column("destination", "string", "For whom it was."),
        Column("hops", "array<string>", "The first hops that have the credit, or the blame."),
        Column("arrived", "boolean", "Whether it was delivered."),
        Column("latency_ms", "bigint", "As in `fates`.", "ms"),
        Column("decided_at", "timestamp", "As in `fates`.", "UTC"),
        Column("h3r5", "string", "Where its receipt came from: H3 of resolution 5, hex."),
        Column("h3r7", "string", "The same, of resolution 7."),
    ),
    ("protocol", "message_id", "destination"),
)

SCOPE: Final = Scope(
    By.MESSAGE,
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
    made_of=(NODES, FATES, KEYS),
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

_RECEIPTS: Final = """
    select a.sighting, a.h3r5, a.h3r7, coalesce(k.owner, a.first) as credited
    from (select sighting,
                 lower(hex(try_cast(dtn.payload.ack_h3r5 as bigint))) as h3r5,
                 lower(hex(try_cast(dtn.payload.ack_h3r7 as bigint))) as h3r7,
                 get(filter(dtn.payload.path.node,
                            n -> n is not null and n <> dtn.payload.to_uid
                                 and sha2(unhex(n), 256) <> dtn.payload.to_uid), 0) as first
          from {s} where protocol = 'dtn' and type = 'DeliveryAck' and auth = 'valid') a
    left join {k} k on k.protocol = 'dtn' and k.public_key = a.first
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


def ways(sightings: DataFrame, nodes: DataFrame, fates: DataFrame, keys: DataFrame) -> DataFrame:
    """The ways of the messages in `fates`.

    Args:
        sightings: All frames that are these messages or refer to them, with `auth`.
        nodes: Who the nodes are.
        fates: What became of the messages.
        keys: The public keys that are known.
    """
    spark = sightings.sparkSession
    known = identities(nodes)
    names = spark.sql(_NAMES, i=known)
    handed = spark.sql(_HANDED, s=sightings, i=known, n=names)
    receipts = spark.sql(_RECEIPTS, s=sightings, k=keys)
    return spark.sql(_WAYS, f=fates, h=handed, r=receipts)
