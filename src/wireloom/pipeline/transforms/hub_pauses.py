"""`hub_pauses`: when the hub told a client to stop sending, and whether it did."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.hub import COLUMNS, hub_frames

TABLE: Final = Table(
    "hub_pauses",
    "One row for each pause of a client, by the hub's own capture where there is one. A pause "
    "that is told again is the same one.",
    (
        Column("pause_id", "string", "The identity of the message that began it."),
        Column("node", "string", "Where it was captured."),
        Column("peer", "string", "The other end of the connection."),
        Column("client", "string", "Who was told to pause."),
        Column("reason", "string", "Why."),
        Column("paused_at", "timestamp", "When it began.", "UTC"),
        Column("ended_at", "timestamp", "When it ended; null if it goes on.", "UTC"),
        Column("duration_ms", "bigint", "How long it was.", "ms"),
        Column("ended_by", "string", "`resume`, `disconnect` or `connected` (a new session)."),
        Column("sent", "bigint", "What the client sent all the same, except for heartbeats."),
    ),
    ("pause_id",),
)

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        *COLUMNS,
        "signalhub.payload.reason",
    ),
    protocol="signalhub",
)

_MARKED: Final = """
    select *, case when coalesce(outcome, '') <> 'rejected'
                        and type in ('hub:pause', 'hub:resume', 'hub:disconnect', 'hub:connected')
                   then substring(type, 5) end as mark
    from {f}
"""

_STATES: Final = """
    select *, last_value(mark, true) over (
                  partition by node, other_end order by captured_at, sighting
                  rows between unbounded preceding and 1 preceding) as before
    from {m}
"""

_NUMBERED: Final = """
    select *, count_if(mark = 'pause' and not before <=> 'pause') over (
                  partition by node, other_end order by captured_at, sighting) as number
    from {s}
"""

_PAUSES: Final = """
    select node, other_end as peer,
           min(struct(captured_at, sighting, direction, message_id, hub.to as client,
                      hub.payload.reason)) filter (where mark = 'pause') as begin,
           min(struct(captured_at, sighting, mark))
               filter (where before = 'pause' and mark <> 'pause') as end,
           collect_list(if(before = 'pause' and mark is null and type <> 'hub:heartbeat',
                           direction, null)) as directions
    from {n} where number > 0
    group by node, other_end, number
"""

_VIEWS: Final = """
    select begin.message_id as pause_id, node, peer, begin.client, begin.reason,
           begin.captured_at as paused_at, end.captured_at as ended_at, end.mark as ended_by,
           if(end is null, null,
              unix_millis(end.captured_at) - unix_millis(begin.captured_at)) as duration_ms,
           size(filter(directions, d -> d <> begin.direction)) as sent,
           row_number() over (partition by begin.message_id
                              order by begin.direction desc, begin.captured_at, node, peer) as place
    from {p}
"""
"""The hub's own capture shows the pause as `out`; what the client sends goes the other way."""


def hub_pauses(sightings: DataFrame) -> DataFrame:
    """The pauses on all connections."""
    spark = sightings.sparkSession
    states = spark.sql(_STATES, m=spark.sql(_MARKED, f=hub_frames(sightings)))
    pauses = spark.sql(_PAUSES, n=spark.sql(_NUMBERED, s=states))
    return spark.sql(_VIEWS, p=pauses).where("place = 1")
