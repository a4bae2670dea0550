"""`crossings`: every frame on a link, with what its peer tells of it."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.nodes import TABLE as NODES

TABLE: Final = Table(
    "crossings",
    "One row a frame that left a node or came to one: whether the node had its content, and "
    "whether it arrived at a peer that captures. `links` sums them up.",
    (
        Column("sighting", "string", "As in `frames`."),
        Column("captured_at", "timestamp", "When the node saw it.", "UTC"),
        Column("protocol", "string", "The protocol."),
        Column("node", "string", "The node."),
        Column("peer", "string", "Who is at the other end; null for what goes to all."),
        Column("link", "string", "The link."),
        Column("direction", "string", "`in` or `out`."),
        Column("size", "bigint", "Bytes of the frame.", "bytes"),
        Column("content", "string", "As in `frames`."),
        Column("duplicate", "boolean", "Whether it came though the node had its content."),
        Column("lost", "int", "1 if it left and was not captured at the peer; null if unknown."),
        Column("queue_length", "bigint", "What it tells: DTN bundles or hub messages waiting."),
        Column("gateway_score", "double", "What it tells in DTN link metrics.", "0 to 1"),
    ),
    ("sighting",),
)

SCOPE: Final = Scope(
    By.CONTENT,
    looks_at=(
        "believed",
        "captured_at",
        "content",
        "direction",
        "dtn.payload.gateway_score",
        "dtn.payload.queue_length",
        "link",
        "node",
        "peer",
        "protocol",
        "sighting",
        "signalhub.payload.queue_depth",
        "size",
    ),
    made_of=(NODES,),
)

_RECEIVED: Final = """
    select protocol, node as receiver, peer as sender, content as same, count(*) as received
    from {s} where direction = 'in' group by all
"""

_CROSSINGS: Final = """
    select s.captured_at, s.protocol, s.node, s.peer, s.link, s.direction, s.size, s.sighting,
           s.content,
           row_number() over (partition by s.protocol, s.node, s.content, s.direction
                              order by s.captured_at, s.sighting) > 1
               and s.direction = 'in' as duplicate,
           case when s.direction = 'out' and w.witness is not null then
               if(row_number() over (partition by s.protocol, s.node, s.peer, s.content, s.direction
                                     order by s.captured_at, s.sighting)
                  > coalesce(r.received, 0), 1, 0) end as lost,
           case when s.believed then coalesce(s.dtn.payload.queue_length,
                                              s.signalhub.payload.queue_depth) end as queue_length,
           case when s.believed then s.dtn.payload.gateway_score end as gateway_score
    from {s} s
    left join (select protocol, node as witness from {n} where hears) w
        on w.protocol = s.protocol and w.witness = s.peer
    left join {r} r on r.protocol = s.protocol and r.receiver = s.peer and r.sender = s.node
        and r.same = s.content
    where s.direction in ('in', 'out')
"""
"""The first frames of a content that left count as those that the peer received."""


def crossings(sightings: DataFrame, nodes: DataFrame) -> DataFrame:
    """The frames in `sightings` that crossed a link.

    Args:
        sightings: All frames of some contents.
        nodes: Who captures what comes.
    """
    spark = sightings.sparkSession
    received = spark.sql(_RECEIVED, s=sightings)
    return spark.sql(_CROSSINGS, s=sightings, r=received, n=nodes)
