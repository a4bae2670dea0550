"""`clocks`: how far the clocks of senders are off, by what was seen at the first hop."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.clock_readings import TABLE as READINGS

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

SCOPE: Final = Scope(By.WHOLE, made_of=(READINGS,))

_CLOCKS: Final = """
    select protocol, source, count(*) as messages, percentile(delay_ms, 0.5) as p50_ms,
           min(delay_ms) as min_ms, max(delay_ms) as max_ms, count_if(delay_ms < 0) as negative,
           greatest(0, -min(delay_ms)) as ahead_ms
    from {r} group by protocol, source
"""


def clocks(readings: DataFrame) -> DataFrame:
    """The clocks of all who send believed messages with a time.

    Args:
        readings: The table `clock_readings`.
    """
    return readings.sparkSession.sql(_CLOCKS, r=readings)
