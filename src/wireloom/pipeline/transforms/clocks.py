"""`clocks`: how far the clocks of senders are off, by what was seen at the first hop."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "clocks",
    "One row for each sender: its messages' times against the first capture of each, at the "
    "sender or one hop away. Cthun senders tell no time: there the source is the broker that "
    "noted the first hop.",
    (
        Column("protocol", "string", "The protocol."),
        Column("source", "string", "Whose clock."),
        Column("messages", "bigint", "Messages that it is measured by."),
        Column("p50_ms", "double", "Captured minus created, the median.", "ms"),
        Column("min_ms", "bigint", "The least: closest to the true offset.", "ms"),
        Column("max_ms", "bigint", "The greatest.", "ms"),
        Column("negative", "bigint", "Messages that were captured before they were created."),
        Column("ahead_ms", "bigint", "By how much the clock is ahead at least, else 0.", "ms"),
    ),
    ("protocol", "source"),
)

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        "believed",
        "captured_at",
        "created_ms",
        "cthun.hops",
        "hops",
        "message_id",
        "protocol",
        "sighting",
        "source",
    ),
)

_FIRST: Final = """
    select protocol, message_id, min(unix_millis(captured_at)) as captured_ms,
           min_by(created_ms, at) filter (where created_ms is not null) as created_ms,
           min_by(clock, at) filter (where clock is not null) as source
    from (select *, struct(captured_at, sighting) as at,
                 if(protocol = 'cthun', get(cthun.hops, 0).server, source) as clock
          from {s}
          where believed and message_id is not null
            and (protocol = 'cthun' or coalesce(hops, 0) <= 1))
    group by protocol, message_id
"""

_CLOCKS: Final = """
    select protocol, source, count(*) as messages, percentile(delay, 0.5) as p50_ms,
           min(delay) as min_ms, max(delay) as max_ms, count_if(delay < 0) as negative,
           greatest(0, -min(delay)) as ahead_ms
    from (select *, try_subtract(captured_ms, created_ms) as delay from {m})
    where delay is not null and source is not null
    group by protocol, source
"""


def clocks(sightings: DataFrame) -> DataFrame:
    """The clocks of all who send believed messages with a time."""
    spark = sightings.sparkSession
    return spark.sql(_CLOCKS, m=spark.sql(_FIRST, s=sightings))
