"""`fates`: what happened to every message, for each destination, with the evidence.

The strongest state with evidence wins, whatever the order of arrival; of one state, a message
on the wire beats a witness, and the earliest counts. Without evidence a message is in flight
up to its deadline and lost after it, measured by the latest capture, never by a clock.
"""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope, Waits
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.accountable import ACCOUNTABLE
from wireloom.pipeline.transforms.claims import CLAIMS, ENTITLED
from wireloom.pipeline.transforms.evidence import columns
from wireloom.pipeline.transforms.evidence.rows import listed
from wireloom.pipeline.transforms.hub import APP_TYPE_MEANING
from wireloom.pipeline.transforms.nodes import TABLE as NODES
from wireloom.wire.outcome import Fate

CREATED: Final = "When it was made, by its sender's clock; null where the sender gives no time."
SINCE: Final = (
    "From created, or from the first sighting where the sender gives no time, to {}, not below 0."
)

_PROOF: Final = f"""
    struct(array_position(array({listed(*Fate)}), proven) as weakness,
           evidence_kind <> 'wire' as hearsay, decided_at as first_at,
           evidence_frame as first_frame, proven, reason, evidence_kind, evidence_frame, decided_at)
"""
"""Of two proofs the lesser counts: the stronger state, wire before witness, the first."""

TABLE: Final = Table(
    "fates",
    "One row for each message and destination that somebody meant to be delivered.",
    (
        Column("protocol", "string", "The protocol."),
        Column("message_id", "string", "The message's identity."),
        Column("destination", "string", "For whom it was; null where nobody can be named."),
        Column("source", "string", "Who sent it."),
        Column("type", "string", "The message type."),
        Column("app_type", "string", APP_TYPE_MEANING),
        Column("sent_at", "timestamp", "Its first sighting.", "UTC"),
        Column("created_at", "timestamp", CREATED, "UTC"),
        Column("deadline", "timestamp", "Until when it is in flight without evidence.", "UTC"),
        Column(
            "state",
            "string",
            "One of delivered, expired, rejected, cancelled, in_flight, lost.",
        ),
        Column("reason", "string", "Why it was rejected."),
        Column("evidence_kind", "string", "`wire` for a message, `witness` for a node's word."),
        Column("evidence_frame", "string", "The sighting that proves the state."),
        Column("decided_at", "timestamp", "When that was captured.", "UTC"),
        Column("latency_ms", "bigint", SINCE.format("decided"), "ms"),
        Column("skew_ms", "bigint", "By how much decided lies before that, else 0.", "ms"),
        Column("hops", "bigint", "The most hops that a sighting shows."),
        Column("copies", "bigint", "Distinct sightings."),
        Column("attempts", "bigint", "How often its composer sent it."),
    ),
    ("protocol", "message_id", "destination"),
)

SCOPE: Final = Scope(
    By.MESSAGE,
    looks_at=(
        "auth",
        "captured_at",
        "cast",
        "created_ms",
        "destination",
        "direction",
        "epoch_ms",
        "expires_ms",
        "hops",
        "message_id",
        "node",
        "priority_rank",
        "protocol",
        "sighting",
        "source",
        "swarm",
        "targets",
        "type",
        *columns(),
    ),
    made_of=(NODES,),
    waits=Waits("state", Fate.IN_FLIGHT.value, "deadline"),
)


_OWED: Final = (
    "source",
    "type",
    "app_type",
    "sent_at",
    "created_ms",
    "deadline_ms",
    "hops",
    "copies",
    "attempts",
)


def _instant(column: str) -> str:
    """Milliseconds as a timestamp; null where the calendar does not reach."""
    return f"case when {column} between 0 and 253402300799999 then timestamp_millis({column}) end"


_FATES: Final = f"""
with owed as ({ACCOUNTABLE}),
claims as ({CLAIMS}),
best as (
    select {", ".join(TABLE.key)}, {", ".join(f"first({name}) as {name}" for name in _OWED)},
           min(case when {ENTITLED} then {_PROOF} end) as proof
    from owed left join claims using (protocol, message_id)
    group by {", ".join(TABLE.key)}),
timed as (
    select *, proof.*,
           unix_millis(proof.decided_at) - coalesce(created_ms, unix_millis(sent_at)) as delay_ms
    from best)
select {", ".join(TABLE.key)}, source, type, app_type, sent_at,
       {_instant("created_ms")} as created_at,
       {_instant("deadline_ms")} as deadline,
       coalesce(proven, if(deadline_ms >= :horizon_ms, {listed(Fate.IN_FLIGHT, Fate.LOST)}))
           as state,
       reason, evidence_kind, evidence_frame, decided_at,
       if(delay_ms is null, null, greatest(delay_ms, 0)) as latency_ms,
       greatest(-delay_ms, if(delay_ms is null, null, 0)) as skew_ms, hops, copies, attempts
from timed
"""  # noqa: S608
"""One text: Spark would look at the whole again for each part that it is made of."""


def fates(sightings: DataFrame, nodes: DataFrame, horizon_ms: int) -> DataFrame:
    """The fates of all accountable messages.

    Args:
        sightings: All frames, with `auth`.
        nodes: Who the nodes are.
        horizon_ms: The latest capture, refused frames included.
    """
    return sightings.sparkSession.sql(
        _FATES, {"horizon_ms": horizon_ms}, sightings=sightings, nodes=nodes
    )
