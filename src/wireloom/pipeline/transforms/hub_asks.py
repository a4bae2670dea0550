"""`hub_asks`: what clients asked the hub, and what it answered."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope, Waits
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.hub import COLUMNS, hub_frames
from wireloom.protocols.signalhub.constants import SEND_TTL_MS

TABLE: Final = Table(
    "hub_asks",
    "One row for each message to the hub that expects an answer, with the first answer to it. "
    "Both are taken from the capture of one node, by one clock.",
    (
        Column("message_id", "string", "The request's identity."),
        Column("type", "string", "What was asked."),
        Column("source", "string", "Who asked."),
        Column("node", "string", "Where it was captured."),
        Column("asked_at", "timestamp", "When it was first seen there.", "UTC"),
        Column("answered_at", "timestamp", "When the answer was first seen there.", "UTC"),
        Column("latency_ms", "bigint", "From asked to answered.", "ms"),
        Column("answer_type", "string", "The answer's message type."),
        Column(
            "outcome",
            "string",
            "`answered`; `refused`; `waiting`; or `unanswered` after its lifetime.",
        ),
        Column("code", "string", "Why it was refused, in the hub's words."),
        Column("status", "string", "`delivered` or `queued`, for a send."),
        Column("retryable", "boolean", "Whether the hub says that asking again may help."),
    ),
    ("message_id",),
)

SCOPE: Final = Scope(
    By.MESSAGE,
    looks_at=(
        *COLUMNS,
        "signalhub.correlation_id",
        "signalhub.metadata.require_ack",
        "signalhub.pattern",
        "signalhub.payload.code",
        "signalhub.payload.retryable",
        "signalhub.payload.status",
        "signalhub.ttl",
    ),
    protocol="signalhub",
    waits=Waits("outcome", "waiting"),
)

_ASKED: Final = f"""
    select message_id, node, other_end, direction, min(captured_at) as asked_at,
           min_by(struct(type, source), struct(captured_at, sighting)) as said,
           min(try_add(created_ms, coalesce(hub.ttl, {SEND_TTL_MS}))) as deadline_ms
    from {{f}} where startswith(type, 'hub:')
      and (hub.pattern = 'ask' or type = 'hub:send' and hub.metadata.require_ack)
    group by message_id, node, other_end, direction
"""  # noqa: S608

_ANSWERED: Final = """
    select hub.correlation_id as asked_id, node, other_end, direction,
           min(struct(captured_at, sighting)) as first,
           min_by(struct(captured_at, type, hub.payload.status, hub.payload.retryable,
                         case when type = 'hub:error' then hub.payload.code
                              when type in ('hub:unknown_actor', 'hub:unauthorized',
                                            'hub:rate_limited', 'hub:version_mismatch',
                                            'hub:message_too_large')
                                  then substring(type, 5) end as code),
                  struct(captured_at, sighting)) as answer
    from {f} where startswith(type, 'hub:') and hub.correlation_id is not null
      and coalesce(outcome, '') <> 'rejected'
    group by hub.correlation_id, node, other_end, direction
"""

_PAIRS: Final = """
    select q.message_id,
           min_by(struct(q.*, a.answer), struct(a.answer is null, q.asked_at, q.node, q.direction))
               as pair
    from {q} q left join {a} a
        on a.asked_id = q.message_id and a.node = q.node and a.other_end = q.other_end
           and a.direction <> q.direction
    group by q.message_id
"""
"""An answer goes the other way on the same connection: no actor can answer itself."""

_ASKS: Final = """
    select message_id, pair.said.type, pair.said.source, pair.node, pair.asked_at,
           pair.answer.captured_at as answered_at,
           if(pair.answer.captured_at is null, null,
              greatest(0, unix_millis(pair.answer.captured_at) - unix_millis(pair.asked_at)))
               as latency_ms,
           pair.answer.type as answer_type, pair.answer.code, pair.answer.status,
           pair.answer.retryable,
           case when pair.answer.code is not null then 'refused'
                when pair.answer is not null then 'answered'
                when :horizon_ms > pair.deadline_ms then 'unanswered' else 'waiting' end as outcome
    from {p}
"""


def hub_asks(sightings: DataFrame, horizon_ms: int) -> DataFrame:
    """Requests and answers.

    Args:
        sightings: All frames.
        horizon_ms: The latest capture.
    """
    spark = sightings.sparkSession
    frames = hub_frames(sightings)
    asked, answered = spark.sql(_ASKED, f=frames), spark.sql(_ANSWERED, f=frames)
    pairs = spark.sql(_PAIRS, q=asked, a=answered)
    return spark.sql(_ASKS, {"horizon_ms": horizon_ms}, p=pairs)
