"""`fates`: what happened to every message, for each destination, with the evidence.

The strongest state with evidence wins, whatever the order of arrival; of one state, a message
on the wire beats a witness, and the earliest counts. Without evidence a message is in flight
up to its deadline and lost after it, measured by the latest capture, never by a clock.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.accountable import accountable
from wireloom.pipeline.transforms.evidence import ENTITLED, claims

STATES: Final = ("delivered", "cancelled", "rejected", "expired", "in_flight", "lost")
"""Strongest first."""

_STRENGTH: Final = (
    f"array_position(array({', '.join(repr(state) for state in STATES)}), proven) as weakness",
    "evidence_kind <> 'wire' as hearsay",
    "decided_at as first_at",
    "evidence_frame as first_frame",
)
"""Of two proofs the lesser in these counts: the stronger state, wire before witness, the first."""

_PROOF: Final = ("proven", "reason", "evidence_kind", "evidence_frame", "decided_at")

TABLE: Final = Table(
    "fates",
    "One row for each message and destination that somebody meant to be delivered.",
    (
        Column("protocol", "string", "The protocol."),
        Column("message_id", "string", "The message's identity."),
        Column("destination", "string", "For whom it was; null where nobody can be named."),
        Column("source", "string", "Who sent it."),
        Column("type", "string", "The message type."),
        Column("sent_at", "timestamp", "Its first sighting.", "UTC"),
        Column("created_at", "timestamp", "When it was made, by its sender's clock.", "UTC"),
        Column("deadline", "timestamp", "Until when it is in flight without evidence.", "UTC"),
        Column("state", "string", f"One of {', '.join(STATES)}."),
        Column("reason", "string", "Why it was rejected."),
        Column("evidence_kind", "string", "`wire` for a message, `witness` for a node's word."),
        Column("evidence_frame", "string", "The sighting that proves the state."),
        Column("decided_at", "timestamp", "When that was captured.", "UTC"),
        Column("latency_ms", "bigint", "From created to decided, not below 0.", "ms"),
        Column("skew_ms", "bigint", "By how much decided lies before created, else 0.", "ms"),
        Column("hops", "bigint", "The most hops that a sighting shows."),
        Column("copies", "bigint", "Distinct sightings."),
        Column("attempts", "bigint", "How often its composer sent it."),
    ),
    ("protocol", "message_id", "destination"),
)


def fates(sightings: DataFrame, nodes: DataFrame, horizon_ms: int) -> DataFrame:
    """The fates of all accountable messages.

    Args:
        sightings: All frames, with `auth`.
        nodes: Who the nodes are.
        horizon_ms: The latest capture, refused frames included.
    """
    owed = accountable(sightings, nodes)
    joined = owed.join(claims(sightings, nodes), ["protocol", "message_id"], "left")
    proof = f.when(f.expr(ENTITLED), f.struct(*map(f.expr, (*_STRENGTH, *_PROOF))))
    best = joined.groupBy(*TABLE.key).agg(
        *[f.first(name).alias(name) for name in owed.columns if name not in TABLE.key],
        f.min(proof).alias("proof"),
    )
    return _decided(best.select("*", "proof.*"), horizon_ms)


def _decided(rows: DataFrame, horizon_ms: int) -> DataFrame:
    undecided = f.when(f.col("deadline_ms") >= horizon_ms, "in_flight").otherwise("lost")
    delay = f.expr("unix_millis(decided_at) - created_ms")
    return rows.withColumns(
        {
            "state": f.coalesce(f.col("proven"), undecided),
            "created_at": f.expr(_instant("created_ms")),
            "deadline": f.expr(_instant("deadline_ms")),
            "latency_ms": f.when(delay.isNotNull(), f.greatest(delay, f.lit(0))),
            "skew_ms": f.when(delay < 0, -delay).otherwise(f.when(delay >= 0, 0)),
        }
    )


def _instant(column: str) -> str:
    """Milliseconds as a timestamp; null where the calendar does not reach."""
    return f"case when {column} between 0 and 253402300799999 then timestamp_millis({column}) end"
