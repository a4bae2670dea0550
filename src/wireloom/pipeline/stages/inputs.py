"""What was refined, and the sightings as Spark reads them from the tables."""

from functools import reduce
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from wireloom.pipeline import frame_tables
from wireloom.pipeline.derived import Derived
from wireloom.pipeline.judged_tables import VERDICTS
from wireloom.pipeline.paths import projected
from wireloom.pipeline.sighted import of_frames
from wireloom.pipeline.stages import refine
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.transforms.sightings import sightings

APP: Final = "analyse"


def refined(store: TableStore) -> int:
    """The last slice that is refined; -1 if none is."""
    return store.log.done(VERDICTS.name, refine.APP)


def seen(spark: SparkSession, store: TableStore, derived: Derived, upto: int) -> DataFrame:
    """All sightings that a table is computed from, with the columns that it looks at."""
    scope = derived.scope
    columns = of_frames(scope.looks_at)
    told = [*columns, "protocol", "type", frame_tables.SLICE]
    schema = projected(frame_tables.frames().arrow, told)
    tables = frame_tables.sighted(scope.protocol)
    parts = [store.read(spark, table, schema=schema) for table in tables]
    rows = reduce(DataFrame.union, parts).where(f"{frame_tables.SLICE} <= {upto}")
    if scope.protocol is not None:
        rows = rows.where(f.col("protocol") == scope.protocol)
    if scope.types:
        rows = rows.where(f.col("type").isin(*scope.types))
    if {"auth", "believed"}.isdisjoint(scope.looks_at):
        return rows
    return sightings(rows, store.read(spark, VERDICTS))


def refused(spark: SparkSession, store: TableStore, derived: Derived, upto: int) -> DataFrame:
    """All refused frames that a table is computed from."""
    if not derived.scope.refused:
        return framed_none(spark, frame_tables.quarantine().arrow)
    rows = store.read(spark, frame_tables.quarantine())
    return rows.where(f"{frame_tables.SLICE} <= {upto}").select(*derived.scope.refused)


def framed_none(spark: SparkSession, schema: pa.Schema) -> DataFrame:
    """No rows."""
    return spark.createDataFrame([], from_arrow_schema(schema))
