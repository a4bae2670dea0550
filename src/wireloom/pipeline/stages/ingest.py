"""Ingest: captured segments to `frames` and `quarantine`, each frame exactly once.

Workers write a micro-batch as Parquet, the rows of each table into files of their own; the driver
commits the files to each table under the batch's number. What a crash left half done is done
again and recognised.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from time import sleep
from typing import Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from wireloom.pipeline import declared
from wireloom.pipeline.source import DEFAULT_MAX_ROWS
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.storing import StoringSource

POLL_SECONDS: Final = 0.01

TRIGGER: Final = "750 milliseconds"
"""How often what came is stored: oftener would leave less of the machine to what follows."""

QUERY_ID: Final = "sql.streaming.queryId"
"""Where Spark says which query a micro-batch belongs to: a new checkpoint is a new query, and
its batches are never mistaken for an old one's."""


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
    """Starts to bring what is in `captures` into the tables.

    Args:
        spark: The session.
        captures: The folder with the segments.
        store: The tables.
        on_batch: Is called with each micro-batch after it is committed.
        continuous: Go on with what comes, instead of ending with what is there.
        max_rows: Rows a micro-batch takes at the most.

    Returns:
        What goes on now; the caller awaits or stops it.
    """
    trigger = {"processingTime": TRIGGER} if continuous else {"availableNow": True}
    # While it watches, what comes does not wait behind the tables that are computed meanwhile.
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
    """The files that workers write of what comes, as a stream."""
    spark.dataSource.register(StoringSource)
    return (
        spark.readStream.format("wireloom_stored")
        .option("maxRows", max_rows)
        .option("partitions", spark.sparkContext.defaultParallelism)
        .option("tables", store.root)
        .load(str(captures))
    )


class Ingestion(NamedTuple):
    """Ingest, while it goes on."""

    query: StreamingQuery
    turn: Lock
    """Whoever holds it keeps a micro-batch from beginning."""

    def await_end(self) -> None:
        """Waits until it has done all that there was.

        Raises:
            StreamingQueryException: If it failed.
        """
        self.query.awaitTermination()

    def stop(self) -> None:
        """Ends it between two micro-batches: of one that is cut off Spark complains at length."""
        with self.turn:
            stopping = Thread(target=self.query.stop)
            stopping.start()
            while self.query.isActive:
                sleep(POLL_SECONDS)
        stopping.join()


def store_batch(store: TableStore, files: DataFrame, number: int) -> IngestedBatch:
    """Has one micro-batch written, and commits it."""
    app = f"ingest {files.sparkSession.sparkContext.getLocalProperty(QUERY_ID)}"
    tables = declared.ingested()
    done = {table.name: store.log.done(table.name, app) for table in tables}
    if min(done.values()) >= number:
        return IngestedBatch(number, 0, 0)
    written = files.collect()
    place = written[0].slice if written else declared.next_slice(store)
    counts = dict.fromkeys(done, 0)
    for table in tables:
        if done[table.name] < number:
            paths = [row.path for row in written if row.table == table.name]
            marks = {app: number, declared.SLICE: place}
            counts[table.name] = store.log.commit(table, paths, marks)
    return IngestedBatch(number, counts["frames"], counts["quarantine"])
