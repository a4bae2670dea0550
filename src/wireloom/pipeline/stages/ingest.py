"""Ingest: captured segments to `frames` and `quarantine`, each frame exactly once.

Workers write a micro-batch as Parquet, with files of their own for each table. The driver commits
the files to each table under the batch's number. After a crash the batch is processed again, and
tables that have it already are skipped.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from time import sleep
from typing import Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from wireloom.pipeline import frame_tables
from wireloom.pipeline.source import DEFAULT_MAX_ROWS
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.storing import StoringSource

POLL_SECONDS: Final = 0.01

TRIGGER: Final = "750 milliseconds"
"""How often new frames are stored: a shorter interval would leave less time for the tables."""

QUERY_ID: Final = "sql.streaming.queryId"
"""Where Spark keeps the id of a micro-batch's query. A new checkpoint is a new query, so its
batches are not mistaken for those of the old one."""


class IngestedBatch(NamedTuple):
    """What one micro-batch brought."""

    batch: int
    frames: int
    quarantine: int


def ingest(
    spark: SparkSession,
    captures: Path,
    store: TableStore,
    *,
    on_batch: Callable[[IngestedBatch], None],
    continuous: bool = False,
    max_rows: int = DEFAULT_MAX_ROWS,
) -> "Ingestion":
    """Starts to store what is in `captures` in the tables.

    Args:
        spark: The session.
        captures: The folder with the segments.
        store: The tables.
        on_batch: Is called with each micro-batch after it is committed.
        continuous: Go on with new frames, instead of ending with those that exist.
        max_rows: Rows a micro-batch takes at the most.

    Returns:
        The running query; the caller awaits or stops it.
    """
    trigger = {"processingTime": TRIGGER} if continuous else {"availableNow": True}
    # A pool of its own: frames do not wait for the tables that are computed at the same time.
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", "ingest")
    turn = Lock()

    def take(batch: DataFrame, number: int) -> None:
        with turn:
            on_batch(store_batch(store, batch, number))

    query = (
        _written(spark, captures, store, max_rows)
        .writeStream.foreachBatch(take)
        .option("checkpointLocation", f"{store.root}/_checkpoints/ingest")
        .trigger(**trigger)
        .start()
    )
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", "default")
    return Ingestion(query, turn)


def _written(spark: SparkSession, captures: Path, store: TableStore, max_rows: int) -> DataFrame:
    """The names of the files that workers write, as a stream."""
    spark.dataSource.register(StoringSource)
    return (
        spark.readStream.format("wireloom_stored")
        .option("maxRows", max_rows)
        .option("partitions", spark.sparkContext.defaultParallelism)
        .option("tables", store.root)
        .load(str(captures))
    )


class Ingestion(NamedTuple):
    """A running ingest."""

    query: StreamingQuery
    turn: Lock
    """While it is held, no micro-batch begins."""

    def await_end(self) -> None:
        """Waits until all frames are stored.

        Raises:
            StreamingQueryException: If it failed.
        """
        self.query.awaitTermination()

    def stop(self) -> None:
        """Stops it between two micro-batches: Spark logs long errors for an interrupted one."""
        with self.turn:
            stopping = Thread(target=self.query.stop)
            stopping.start()
            while self.query.isActive:
                sleep(POLL_SECONDS)
        stopping.join()


def store_batch(store: TableStore, files: DataFrame, number: int) -> IngestedBatch:
    """Has the workers write one micro-batch, and commits it."""
    app = f"ingest {files.sparkSession.sparkContext.getLocalProperty(QUERY_ID)}"
    tables = frame_tables.ingested()
    done = {table.name: store.log.done(table.name, app) for table in tables}
    if min(done.values()) >= number:
        return IngestedBatch(number, 0, 0)
    written = files.collect()
    place = written[0].slice if written else frame_tables.next_slice(store)
    counts = dict.fromkeys(done, 0)
    for table in tables:
        if done[table.name] < number:
            paths = [row.path for row in written if row.table == table.name]
            marks = {app: number, frame_tables.SLICE: place}
            counts[table.name] = store.log.commit(table, paths, marks)
    return IngestedBatch(number, counts["frames"], counts["quarantine"])
