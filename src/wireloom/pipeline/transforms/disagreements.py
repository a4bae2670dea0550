"""`disagreements`: what a node did against what its bytes deserve."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "disagreements",
    "Frames that a node took and the pipeline refuses, or the other way round.",
    (
        Column("sighting", "string", "As in `frames`."),
        Column("captured_at", "timestamp", "When it was captured.", "UTC"),
        Column("node", "string", "The node."),
        Column("protocol", "string", "The protocol."),
        Column("type", "string", "The message type; null if the frame does not decode."),
        Column("message_id", "string", "The message's identity."),
        Column("node_says", "string", "The node's outcome."),
        Column("node_reason", "string", "The node's reason."),
        Column("pipeline_says", "string", "`accepted` or `rejected`."),
        Column("pipeline_reason", "string", "The pipeline's reason."),
    ),
    ("sighting",),
)

SCOPE: Final = Scope(
    By.FRAME,
    looks_at=(
        "auth",
        "captured_at",
        "message_id",
        "node",
        "outcome",
        "outcome_reason",
        "protocol",
        "sighting",
        "type",
    ),
    refused=("sighting", "captured_at", "node", "protocol", "outcome", "outcome_reason", "reason"),
)

_TAKEN: Final = "outcome in ('accepted', 'delivered', 'forwarded', 'queued', 'acked')"
_STRUCTURAL: Final = (
    "('malformed', 'unsupported_version', 'unknown_type', 'bad_signature', 'bad_pow')"
)
"""Reasons that follow from the bytes alone; others depend on the node's clock and state."""


def disagreements(sightings: DataFrame, quarantine: DataFrame) -> DataFrame:
    """Both kinds, from decoded and refused frames."""
    spark = sightings.sparkSession
    return spark.sql(
        f"""
        select sighting, captured_at, node, protocol, type, message_id, outcome as node_says,
               outcome_reason as node_reason, 'rejected' as pipeline_says,
               case protocol when 'uep12' then 'bad_pow' else 'bad_signature' end as pipeline_reason
        from {{s}} where auth = 'invalid' and {_TAKEN}
        union all
        select sighting, captured_at, node, protocol, type, message_id, outcome, outcome_reason,
               'accepted', null
        from {{s}} where auth <> 'invalid' and outcome = 'rejected' and outcome_reason in
            {_STRUCTURAL}
                     and not (auth = 'unknown_key' and outcome_reason = 'bad_signature')
        union all
        select sighting, captured_at, node, protocol, null, null, outcome, outcome_reason,
               'rejected', reason
        from {{q}} where {_TAKEN}
        """,  # noqa: S608
        s=sightings,
        q=quarantine,
    )
