"""`hub_sessions`: who was connected to the hub, when, and how it ended."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.hub import COLUMNS, hub_frames, hub_messages

TABLE: Final = Table(
    "hub_sessions",
    "One row for each session that a hub opened, by the hub's own capture where there is one.",
    (
        Column("session_id", "string", "The session's name."),
        Column("actor", "string", "Who it is: the verified identity, else what it called itself."),
        Column("node", "string", "Where it was captured."),
        Column("peer", "string", "The other end of the connection."),
        Column("asked_at", "timestamp", "When the client's connect was first seen.", "UTC"),
        Column("opened_at", "timestamp", "When the hub's word that it is open was seen.", "UTC"),
        Column("closed_at", "timestamp", "When it ended; null if nothing tells that.", "UTC"),
        Column("duration_ms", "bigint", "From opened to closed.", "ms"),
        Column(
            "close_reason",
            "string",
            "As the disconnect says; `superseded` if the next session of the connection ended it.",
        ),
        Column("closed_by", "string", "`client` or `hub`."),
        Column("client_version", "string", "The version that the client speaks."),
        Column("server_version", "string", "The version that the hub speaks."),
        Column("user_agent", "string", "The client's program."),
        Column("frames", "bigint", "Frames in the session."),
        Column("bytes", "bigint", "Their bytes.", "bytes"),
        Column("errors", "bigint", "Refusals that the hub sent."),
        Column("heartbeats", "bigint", "Heartbeats that the hub answered."),
        Column("skew_ms", "double", "The hub's clock minus the client's, the median.", "ms"),
    ),
    ("session_id",),
)

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        *COLUMNS,
        "signalhub.correlation_id",
        "signalhub.metadata.actor_identity",
        "signalhub.metadata.client_metadata.user_agent",
        "signalhub.metadata.protocol_version",
        "signalhub.payload.reason",
        "signalhub.payload.server_time",
        "signalhub.payload.server_version",
        "signalhub.payload.session_id",
        "signalhub.payload.timestamp",
    ),
    protocol="signalhub",
)

SUPERSEDED: Final = "duplicate_connection"
"""Goes to the old session and may be captured after the new one began."""

_NUMBERED: Final = """
    select *, count_if(type = 'hub:connected') over (
                  partition by node, other_end order by captured_at, sighting) as number
    from {f} where coalesce(outcome, '') <> 'rejected' or type <> 'hub:connected'
"""

_SESSIONS: Final = f"""
    select node, other_end, number, min(captured_at) as opened_at,
           min(struct(captured_at, sighting, direction, hub))
               filter (where type = 'hub:connected') as opening,
           min(struct(captured_at, sighting, direction, hub.payload.reason))
               filter (where type = 'hub:disconnect'
                       and not hub.payload.reason <=> '{SUPERSEDED}') as closing,
           count(*) as frames, sum(size) as bytes,
           count_if(type in ('hub:error', 'hub:unknown_actor', 'hub:unauthorized',
                             'hub:rate_limited', 'hub:version_mismatch',
                             'hub:message_too_large')) as errors,
           count_if(type = 'hub:heartbeat_ack') as heartbeats,
           percentile(try_subtract(hub.payload.server_time, hub.payload.timestamp), 0.5)
               filter (where type = 'hub:heartbeat_ack') as skew_ms
    from {{n}} where number > 0
    group by node, other_end, number
"""  # noqa: S608

_FOLLOWED: Final = """
    select *, lead(opened_at) over (partition by node, other_end order by number) as next_at
    from {g}
"""

_VIEWS: Final = """
    select v.*, v.opening.hub.payload.session_id as session_id,
           coalesce(v.closing.captured_at, v.next_at) as closed_at,
           if(v.closing is null, if(v.next_at is null, null, 'superseded'), v.closing.reason)
               as close_reason,
           case v.closing.direction when v.opening.direction then 'hub' when 'in' then 'client'
                                    when 'out' then 'client' end as closed_by,
           row_number() over (partition by v.opening.hub.payload.session_id
                              order by v.opening.direction desc, v.opened_at, v.node, v.other_end)
               as place
    from {v} v
"""
"""The hub's own capture shows the opening as `out`."""

_RESULT: Final = """
    select v.session_id, v.node, v.other_end as peer, v.opened_at, v.closed_at, v.close_reason,
           v.closed_by, v.frames, v.bytes, v.errors, v.heartbeats, v.skew_ms,
           coalesce(v.opening.hub.metadata.actor_identity, v.opening.hub.to) as actor,
           c.captured_at as asked_at, c.hub.metadata.protocol_version as client_version,
           v.opening.hub.payload.server_version as server_version,
           c.hub.metadata.client_metadata.user_agent as user_agent,
           if(v.closed_at is null, null,
              greatest(0, unix_millis(v.closed_at) - unix_millis(v.opened_at))) as duration_ms
    from {v} v left join {m} c
        on c.message_id = v.opening.hub.correlation_id and c.type = 'hub:connect'
    where v.place = 1
"""


def hub_sessions(sightings: DataFrame) -> DataFrame:
    """The sessions on all connections, one after the other on each."""
    spark = sightings.sparkSession
    numbered = spark.sql(_NUMBERED, f=hub_frames(sightings))
    followed = spark.sql(_FOLLOWED, g=spark.sql(_SESSIONS, n=numbered))
    return spark.sql(_RESULT, v=spark.sql(_VIEWS, v=followed), m=hub_messages(sightings))
