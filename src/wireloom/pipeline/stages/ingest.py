"""Ingest: captured segments to `frames` and `quarantine`, each frame exactly once.

Workers write a micro-batch as Parquet, the rows of each table into files of their own; the driver
commits the files to each table under the batch's number. What a crash left half done is done
again and recognised.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from wireloom.pipeline import declared
from wireloom.pipeline.source import DEFAULT_MAX_ROWS
from wireloom.pipeline.storing import StoringSource
from wireloom.pipeline.tables import Store, Table

QUERY_ID: Final = "sql.streaming.queryId"
"""Where Spark says which query a micro-batch belongs to: a new checkpoint is a new query, and
its batches are never mistaken for an old one's."""


class Ingested(NamedTuple):
    """What one micro-batch brought."""

    batch: int
    frames: int
    quarantine: int


def ingest(
    spark: SparkSession,
    captures: Path,
    store: Store,
    *,
    told: Callable[[Ingested], None],
    continuous: bool = False,
    max_rows: int = DEFAULT_MAX_ROWS,
) -> StreamingQuery:
    """Starts to bring what is in `captures` into the tables.

    Args:
        spark: The session.
        captures: The folder with the segments.
        store: The tables.
        told: Is told of each micro-batch after it is committed.
        continuous: Go on with what comes, instead of ending with what is there.
        max_rows: Rows a micro-batch takes at the most.

    Returns:
        The query; the caller awaits or stops it.
    """
    spark.dataSource.register(StoringSource)
    rows = (
        spark.readStream.format("wireloom_stored")
        .option("maxRows", max_rows)
        .option("partitions", spark.sparkContext.defaultParallelism)
        .option("tables", store.root)
        .load(str(captures))
    )
    trigger = {"processingTime": "100 milliseconds"} if continuous else {"availableNow": True}
    # While it watches, what comes does not wait behind the tables that are computed meanwhile.
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", "ingest")
    query = (
        rows.writeStream.foreachBatch(lambda batch, number: told(store_batch(store, batch, number)))
        .option("checkpointLocation", f"{store.root}/_checkpoints/ingest")
        .trigger(**trigger)
        .start()
    )
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", "default")
    return query


def store_batch(store: Store, files: DataFrame, number: int) -> Ingested:
    """Has one micro-batch written, and commits it."""
    app = f"ingest {files.sparkSession.sparkContext.getLocalProperty(QUERY_ID)}"
    tables = declared.ingested()
    if min(store.done(table.name, app) for table in tables) >= number:
        return Ingested(number, 0, 0)
    written = files.collect()
    place = written[0].slice if written else declared.next_slice(store)
    counts = {}
    for table in tables:
        paths = [row.path for row in written if row.table == table.name]
        counts[table.name] = _commit(store, table, paths, {app: number, declared.SLICE: place})
    return Ingested(number, counts["frames"], counts["quarantine"])


def _commit(store: Store, table: Table, paths: list[str], done: dict[str, int]) -> int:
    app, number = next(iter(done.items()))
    if store.done(table.name, app) >= number:
        return 0
    return store.commit(table, paths, done)
