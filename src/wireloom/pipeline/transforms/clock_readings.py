"""`clock_readings`: what each message tells of its sender's clock."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "clock_readings",
    "One row a believed message that tells a time: how long before its first capture, at the "
    "sender or one hop away, that was. `clocks` sums them up by sender.",
    (
        Column("protocol", "string", "The protocol."),
        Column("message_id", "string", "The message."),
        Column("source", "string", "Whose clock: the sender, for Cthun the first broker."),
        Column("delay_ms", "bigint", "First capture minus the time that the message tells.", "ms"),
    ),
    ("protocol", "message_id"),
)

SCOPE: Final = Scope(
    By.MESSAGE,
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

_READINGS: Final = """
    select * from (select *, try_subtract(captured_ms, created_ms) as delay_ms from {m})
    where delay_ms is not null and source is not null
"""


def clock_readings(sightings: DataFrame) -> DataFrame:
    """What the believed messages in `sightings` tell."""
    spark = sightings.sparkSession
    return spark.sql(_READINGS, m=spark.sql(_FIRST, s=sightings))
