"""Ingest: captured segments to `frames` and `quarantine`, each frame exactly once.

A micro-batch is written as Parquet in one job, the rows of each table into files of their own,
and committed to each table under the batch's number. What a crash left half done is done
again and recognised.
"""

from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import Final, NamedTuple
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from wireloom.pipeline import declared
from wireloom.pipeline.source import DEFAULT_MAX_ROWS, WireloomSource
from wireloom.pipeline.tables import MAX_FILE_RECORDS, Store, Table, parquet_files

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
    spark.dataSource.register(WireloomSource)
    rows = (
        spark.readStream.format("wireloom")
        .option("maxRows", max_rows)
        .option("partitions", spark.sparkContext.defaultParallelism)
        .load(str(captures))
    )
    trigger = {"processingTime": "100 milliseconds"} if continuous else {"availableNow": True}
    return (
        rows.writeStream.foreachBatch(lambda batch, number: told(store_batch(store, batch, number)))
        .option("checkpointLocation", f"{store.root}/_checkpoints/ingest")
        .trigger(**trigger)
        .start()
    )


def store_batch(store: Store, rows: DataFrame, number: int) -> Ingested:
    """Writes and commits one micro-batch."""
    app = f"ingest {rows.sparkSession.sparkContext.getLocalProperty(QUERY_ID)}"
    tables = {table.name: table for table in declared.ingested()}
    if min(store.done(name, app) for name in tables) >= number:
        return Ingested(number, 0, 0)
    folder = uuid4().hex
    stage = f"{store.root}/_stage/{folder}"
    rows.write.option("maxRecordsPerFile", MAX_FILE_RECORDS).partitionBy(declared.KIND).parquet(
        stage
    )
    counts = {}
    for name, table in tables.items():
        _move(Path(stage) / f"{declared.KIND}={name}", Path(store.uri(name)) / folder)
        counts[name] = _commit(store, table, folder, app, number)
    rmtree(stage)
    return Ingested(number, counts["frames"], counts["quarantine"])


def _move(written: Path, target: Path) -> None:
    """What was written in one job goes to the folder of its table, where it is committed."""
    if written.exists():
        target.mkdir(parents=True)
        for path in sorted(written.glob("*.parquet")):
            path.replace(target / path.name)


def _commit(store: Store, table: Table, folder: str, app: str, number: int) -> int:
    if store.done(table.name, app) >= number:
        return 0
    paths = parquet_files(store.uri(table.name), folder)
    return store.commit(table, paths, mode="append", app=app, version=number)
