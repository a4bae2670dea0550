"""Sightings with what is known of their authenticity: the input of every other transform."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.transforms.evidence.rows import listed, quoted
from wireloom.wire.outcome import Auth

BELIEVED: Final = (Auth.VALID, Auth.UNCHECKED)
"""What proves something on the wire: a check that held, or a proof outside the frame."""


_SIGHTINGS: Final = f"""
    select *, auth in ({listed(*BELIEVED)}) as believed
    from (select f.*, coalesce(v.auth, {quoted(Auth.UNCHECKED)}) as auth
          from {{f}} f left join {{v}} v on f.protocol = v.protocol and f.content = v.content)
"""  # noqa: S608


def sightings(frames: DataFrame, verdicts: DataFrame) -> DataFrame:
    """Frames, batched ones included, with `auth`, and `believed` where it may serve as evidence."""
    return frames.sparkSession.sql(_SIGHTINGS, f=frames, v=verdicts)
