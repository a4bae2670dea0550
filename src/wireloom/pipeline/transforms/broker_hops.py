"""`broker_hops`: what brokers noted on a message's way (Cthun debug chunks)."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "broker_hops",
    "One row for each note that a broker made on a message, for each copy of the message.",
    (
        Column("message_id", "string", "The message's identity."),
        Column("destination", "string", "For whom the copy left; null if it was not seen leaving."),
        Column("step", "int", "The note's place in the copy, from 1."),
        Column("type", "string", "The message type."),
        Column("source", "string", "Who sent the message."),
        Column("server", "string", "The broker."),
        Column("stage", "string", "What happened there."),
        Column("at", "timestamp", "When, by the broker's clock.", "UTC"),
        Column("dwell_ms", "bigint", "Until the copy's next note, not below 0.", "ms"),
    ),
    ("message_id", "destination", "step"),
)

SCOPE: Final = Scope(
    By.MESSAGE,
    looks_at=(
        "captured_at",
        "cthun.hops",
        "direction",
        "message_id",
        "peer",
        "protocol",
        "sighting",
        "source",
        "type",
    ),
    protocol="cthun",
)

_COPIES: Final = """
    select message_id, if(direction = 'out', peer, null) as destination,
           min_by(struct(type, source, cthun.hops),
                  struct(-size(cthun.hops), captured_at, sighting)) as copy
    from {s} where protocol = 'cthun' and size(cthun.hops) > 0
    group by all
"""
"""Of several sightings of a copy, the one with most notes."""

_HOPS: Final = """
    select *, if(next is null, null, greatest(0, unix_millis(next) - unix_millis(at))) as dwell_ms
    from (select message_id, destination, place + 1 as step, copy.type, copy.source, hop.server,
                 hop.stage, try_cast(hop.time as timestamp) as at,
                 try_cast(get(copy.hops, place + 1).time as timestamp) as next
          from {c} lateral view posexplode(copy.hops) as place, hop)
"""


def broker_hops(sightings: DataFrame) -> DataFrame:
    """The notes in order."""
    spark = sightings.sparkSession
    return spark.sql(_HOPS, c=spark.sql(_COPIES, s=sightings))
