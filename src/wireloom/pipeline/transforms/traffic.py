"""`traffic`: what was on the wire, minute by minute, raw and without repeats."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "traffic",
    "Frames by minute, protocol, type and cast: all of them, and distinct ones.",
    (
        Column("minute", "timestamp", "The minute, by the capture clock.", "UTC"),
        Column("protocol", "string", "The protocol."),
        Column("type", "string", "The message type; null for refused frames."),
        Column("cast", "string", "How many it is meant for."),
        Column("frames", "bigint", "Sightings."),
        Column("distinct_frames", "bigint", "Distinct contents."),
        Column("bytes", "bigint", "Bytes of all sightings.", "bytes"),
        Column("outcomes", "map<string,bigint>", "Sightings by what nodes say became of them."),
        Column(
            "reasons", "map<string,bigint>", "Refusals by reason: the nodes' and the decoder's."
        ),
        Column("top_talkers", "array<string>", "The five sources with most frames."),
    ),
    ("minute", "protocol", "type", "cast"),
)

SCOPE: Final = Scope(
    By.MINUTE,
    looks_at=(
        "captured_at",
        "cast",
        "content",
        "outcome",
        "outcome_reason",
        "protocol",
        "size",
        "source",
        "type",
    ),
    refused=("captured_at", "protocol", "size", "content", "outcome", "reason"),
)

_GROUP: Final = "minute, protocol, type, cast"
_SAME: Final = " and ".join(f"{{0}}.{name} <=> c.{name}" for name in _GROUP.split(", "))


def _tally(column: str) -> str:
    """How often each value of a column is there, as a map."""
    return f"""
        select {_GROUP}, map_from_entries(array_sort(collect_list(struct({column}, n)))) as tally
        from (select {_GROUP}, {column}, count(*) as n from rows
              where {column} is not null group by {_GROUP}, {column})
        group by {_GROUP}
    """  # noqa: S608


_TRAFFIC: Final = f"""
with rows as (
    select *, date_trunc('minute', captured_at) as minute
    from (select captured_at, protocol, type, cast, size, content, outcome, source,
                 outcome_reason as reason from {{s}}
          union all
          select captured_at, protocol, null, null, size, content, outcome, null, reason
          from {{q}})),
counted as (
    select {_GROUP}, count(*) as frames, count(distinct content) as distinct_frames,
           sum(size) as bytes
    from rows group by {_GROUP}),
outcomes as ({_tally("outcome")}),
reasons as ({_tally("reason")}),
talkers as (
    select {_GROUP},
           slice(array_sort(collect_list(struct(-n as n, source))), 1, 5).source as top_talkers
    from (select {_GROUP}, source, count(*) as n from rows
          where source is not null group by {_GROUP}, source)
    group by {_GROUP})
select c.*, o.tally as outcomes, r.tally as reasons, t.top_talkers
from counted c
left join outcomes o on {_SAME.format("o")}
left join reasons r on {_SAME.format("r")}
left join talkers t on {_SAME.format("t")}
"""  # noqa: S608


def traffic(sightings: DataFrame, quarantine: DataFrame) -> DataFrame:
    """All sightings, decoded and refused, counted."""
    return sightings.sparkSession.sql(_TRAFFIC, s=sightings, q=quarantine)
