"""`hub_actors`: who is registered with the hub, and how it does."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.hub import COLUMNS, hub_messages

TABLE: Final = Table(
    "hub_actors",
    "One row for each address that was registered or asked for, as far as messages tell: a "
    "heartbeat that renews a registration says nothing of it.",
    (
        Column("actor", "string", "The address."),
        Column(
            "state",
            "string",
            "`registered`, `expired`, `unregistered`, or `unknown` if nobody ever registered it.",
        ),
        Column("capabilities", "array<string>", "What it can do, by the latest word."),
        Column("version", "bigint", "The highest count of its registrations that was told."),
        Column("first_seen", "timestamp", "The first word of its registration.", "UTC"),
        Column("last_seen", "timestamp", "The latest.", "UTC"),
        Column("expires_at", "timestamp", "When its registration ends, by the latest word.", "UTC"),
        Column("unregistered_at", "timestamp", "When it was last taken back.", "UTC"),
        Column("registrations", "bigint", "How often the hub registered it."),
        Column("renewals", "bigint", "How often the hub renewed it."),
        Column("sent", "bigint", "Sends, publications and broadcasts of its own."),
        Column("received", "bigint", "Messages of others that the hub forwarded to it."),
        Column("unknown", "bigint", "How often the hub said that it does not know it."),
    ),
    ("actor",),
)

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        *COLUMNS,
        "signalhub.correlation_id",
        "signalhub.payload.actor_address",
        "signalhub.payload.actors",
        "signalhub.payload.capabilities",
        "signalhub.payload.expires_at",
        "signalhub.payload.renewal_token",
        "signalhub.payload.version",
    ),
    protocol="signalhub",
    has_horizon=True,
)

_TELLING: Final = """
    select * from {s}
    where type in ('hub:register', 'hub:registered', 'hub:renewed', 'hub:unregister',
                   'hub:discovered', 'hub:actor_list', 'hub:unknown_actor',
                   'hub:send', 'hub:publish', 'hub:broadcast')
       or not startswith(type, 'hub:')
"""
"""Most frames say nothing of an actor; they are left out before anything is sorted."""

_TOKENS: Final = "select * from {s} where type in ('hub:renew', 'hub:registered')"

_OWNERS: Final = """
    select q.message_id as renewal, min(t.hub.payload.actor_address) as owner
    from {m} q join {m} t on t.hub.payload.renewal_token = q.hub.payload.renewal_token
    where q.type = 'hub:renew' and t.type = 'hub:registered'
    group by q.message_id
"""
"""A renewal names its actor by a token. The registration's own one is known; those that follow
change, and then the hub's answer goes to the actor."""

_STATEMENTS: Final = """
    select m.captured_at, m.message_id, m.type, m.hub.payload.version,
           m.hub.payload.expires_at as expires_ms,
           if(m.type = 'hub:register', from_json(m.hub.payload.capabilities, 'array<string>'), null)
               as capabilities,
           case when m.type = 'hub:renewed' then coalesce(o.owner, m.destination)
                when m.type in ('hub:send', 'hub:publish', 'hub:broadcast') then m.source
                when startswith(m.type, 'hub:') then m.hub.payload.actor_address
                else m.destination end as actor,
           coalesce(m.hub.payload.actors, array()) as listed
    from {m} m left join {o} o
        on m.type = 'hub:renewed' and o.renewal = m.hub.correlation_id
"""

_FACTS: Final = """
    select captured_at, message_id, type, said.*
    from (select captured_at, message_id, type,
                 explode(concat(
                     array(struct(actor, version, expires_ms, capabilities)),
                     transform(listed, a -> struct(a.actor_address as actor, a.version,
                                                   a.expires_at as expires_ms, a.capabilities))))
                     as said
          from {s})
    where said.actor is not null
"""

_ACTORS: Final = """
    select actor, max(version) as version, min(captured_at) filter (where holds) as first_seen,
           max(captured_at) filter (where holds) as last_seen,
           max_by(expires_ms, struct(captured_at, message_id)) filter (where expires_ms is not null)
               as expires_ms,
           max_by(capabilities, struct(captured_at, message_id))
               filter (where capabilities is not null) as capabilities,
           max(captured_at) filter (where type = 'hub:unregister') as unregistered_at,
           count_if(type = 'hub:registered') as registrations,
           count_if(type = 'hub:renewed') as renewals,
           count_if(type in ('hub:send', 'hub:publish', 'hub:broadcast')) as sent,
           count_if(not startswith(type, 'hub:')) as received,
           count_if(type = 'hub:unknown_actor') as unknown
    from (select *, type in ('hub:registered', 'hub:renewed', 'hub:discovered', 'hub:actor_list')
              as holds from {f})
    group by actor
    having first_seen is not null or unregistered_at is not null or unknown > 0
"""

_STATES: Final = """
    select a.*, case when last_seen is null and unregistered_at is null then 'unknown'
                     when last_seen is null or unregistered_at >= last_seen then 'unregistered'
                     when expires_ms < :horizon_ms then 'expired'
                     else 'registered' end as state,
           case when expires_ms between 0 and 253402300799999
                then timestamp_millis(expires_ms) end as expires_at
    from {a} a
"""


def hub_actors(sightings: DataFrame, horizon_ms: int) -> DataFrame:
    """All actors that the hub's messages speak of.

    Args:
        sightings: All frames.
        horizon_ms: The latest capture.
    """
    spark = sightings.sparkSession
    tokens = hub_messages(spark.sql(_TOKENS, s=sightings))
    messages = hub_messages(spark.sql(_TELLING, s=sightings))
    statements = spark.sql(_STATEMENTS, m=messages, o=spark.sql(_OWNERS, m=tokens))
    facts = spark.sql(_FACTS, s=statements)
    return spark.sql(_STATES, {"horizon_ms": horizon_ms}, a=spark.sql(_ACTORS, f=facts))
