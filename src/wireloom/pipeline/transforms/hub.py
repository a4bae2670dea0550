"""What the tables about the hub share: connections, and messages without their repeats."""

from typing import Final

from pyspark.sql import DataFrame

APP_TYPE_MEANING: Final = (
    "The application's own type of what a `hub:send`, `hub:publish` or `hub:broadcast` carries; "
    "null for other messages, whose `type` is all there is."
)

COLUMNS: Final = (
    "captured_at",
    "created_ms",
    "destination",
    "direction",
    "message_id",
    "node",
    "outcome",
    "peer",
    "protocol",
    "sighting",
    "size",
    "source",
    "type",
    "signalhub.from",
    "signalhub.to",
)
"""What all of these tables look at."""

_FRAMES: Final = """
    select sighting, captured_at, node, direction, type, message_id, source, destination,
           created_ms, outcome, size, signalhub as hub, peer,
           coalesce(peer, if(direction = 'out', signalhub.to, signalhub.from)) as other_end
    from {s} where protocol = 'signalhub' and direction in ('in', 'out')
"""

_MESSAGES: Final = """
    select message_id, captured_at, first.*
    from (select message_id, min(captured_at) as captured_at,
                 min_by(struct(type, source, destination, hub, size),
                        struct(captured_at, sighting)) as first
          from {f} where coalesce(outcome, '') <> 'rejected'
          group by message_id)
"""


def hub_frames(sightings: DataFrame) -> DataFrame:
    """Frames on connections with a hub; `node` and `other_end` name the connection."""
    return sightings.sparkSession.sql(_FRAMES, s=sightings)


def hub_messages(sightings: DataFrame) -> DataFrame:
    """One row a message as it was first seen; what its receiver refused is not there.

    The columns are message_id, captured_at, type, source, destination, hub, size.
    """
    return sightings.sparkSession.sql(_MESSAGES, f=hub_frames(sightings))
