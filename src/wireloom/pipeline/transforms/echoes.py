"""`echoes`: requests that are answered at once, and how long that took.

Both ends are measured at one node, by one clock. Where the request left and the answer came,
the time between is a round trip; where the request came and the answer left, it is the time
that the answer took to make. A node that only passes both on measures nothing.

| protocol | request | answer | what both share |
|---|---|---|---|
| myriadmesh | TEST_REQUEST | TEST_RESPONSE | the test's id and the two ends |
| myriadmesh | CONTROL, PING | CONTROL, PONG | the parameters and the two ends |
| signalhub | hub:heartbeat | hub:heartbeat_ack | the client's time and the connection |
"""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "echoes",
    "One row for each answered test, ping or heartbeat and node that measured it: what a link's "
    "delay is read from.",
    (
        Column("sighting", "string", "The answer, as in `frames`."),
        Column("protocol", "string", "The protocol."),
        Column("node", "string", "The node that measured."),
        Column("peer", "string", "Who was at the other end of the request."),
        Column("link", "string", "The request's link."),
        Column("captured_at", "timestamp", "When the request was captured.", "UTC"),
        Column("round_trip", "boolean", "Whether the request left there; else it came there."),
        Column("ms", "double", "The time from request to answer.", "ms"),
    ),
    ("sighting",),
)

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        "believed",
        "captured_at",
        "destination",
        "direction",
        "link",
        "message_id",
        "myriadmesh.payload.command",
        "myriadmesh.payload.parameters",
        "myriadmesh.payload.test_id",
        "node",
        "peer",
        "protocol",
        "sighting",
        "signalhub.payload.timestamp",
        "source",
        "type",
    ),
    types=("TEST_REQUEST", "TEST_RESPONSE", "CONTROL", "hub:heartbeat", "hub:heartbeat_ack"),
)

_MARKED: Final = """
    select protocol, node, peer, link, direction, captured_at, sighting, message_id,
           type in ('TEST_REQUEST', 'hub:heartbeat')
               or myriadmesh.payload.command <=> 'PING' as asks,
           struct(if(protocol = 'signalhub', array(peer), sort_array(array(source, destination))),
                  myriadmesh.payload.test_id, myriadmesh.payload.parameters,
                  signalhub.payload.timestamp) as key
    from {s} where believed and direction in ('in', 'out')
      and (type in ('TEST_REQUEST', 'TEST_RESPONSE', 'hub:heartbeat', 'hub:heartbeat_ack')
           or myriadmesh.payload.command in ('PING', 'PONG'))
"""

_AT_THE_ENDS: Final = """
    select * from (select *, min(direction) over (partition by protocol, node, message_id) as least,
                          max(direction) over (partition by protocol, node, message_id) as most
                   from {m})
    where least = most
"""

_PAIRED: Final = """
    select *, lag(struct(asks, direction, captured_at, peer, link)) over (
                  partition by protocol, node, key order by captured_at, sighting) as before
    from {e}
"""

_ECHOES: Final = """
    select sighting, protocol, node, before.peer as peer, before.link as link,
           before.captured_at as captured_at, before.direction = 'out' as round_trip,
           (unix_micros(captured_at) - unix_micros(before.captured_at)) / 1000 as ms
    from {p} where not asks and before.asks and before.direction <> direction
"""


def echoes(sightings: DataFrame) -> DataFrame:
    """One row for each answered request and node that measured it, with the request's link."""
    spark = sightings.sparkSession
    ends = spark.sql(_AT_THE_ENDS, m=spark.sql(_MARKED, s=sightings))
    return spark.sql(_ECHOES, p=spark.sql(_PAIRED, e=ends))
