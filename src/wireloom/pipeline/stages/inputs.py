"""The input of the transforms of `analyse`: everything that was ingested and refined so far."""

from collections.abc import Callable
from typing import Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession

from wireloom.pipeline import frame_tables
from wireloom.pipeline.stages import refine
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Table
from wireloom.pipeline.transforms.sightings import sightings

APP: Final = "analyse"


class Inputs(NamedTuple):
    """Everything up to a slice, as the transforms take it."""

    seen: DataFrame
    """All sightings, with what is known of their authenticity."""

    quarantine: DataFrame
    horizon_ms: int
    """The latest capture."""

    table: Callable[[Table], DataFrame]
    """A table that was brought up to date before."""


def refined(store: TableStore) -> int:
    """The last slice that is refined; -1 if none is."""
    return store.log.done(refine.VERDICTS.name, refine.APP)


def inputs(spark: SparkSession, store: TableStore, upto: int) -> Inputs:
    """The input up to a slice."""
    frames = frame_tables.decoded(spark, store, upto=upto).drop("raw")
    refused = store.read(spark, frame_tables.quarantine()).where(f"{frame_tables.SLICE} <= {upto}")
    return Inputs(
        seen=sightings(frames, store.read(spark, refine.VERDICTS)),
        quarantine=refused,
        horizon_ms=frame_tables.horizon_ms(store, upto=upto),
        table=lambda table: store.read(spark, table),
    )
