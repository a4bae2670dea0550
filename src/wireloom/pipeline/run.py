"""A run of the pipeline: ingest, refine and analyse, once or continuously."""

from collections.abc import Callable
from datetime import UTC, datetime
from time import perf_counter
from typing import Final, NamedTuple

import pyarrow as pa

from wireloom.pipeline import frame_tables
from wireloom.pipeline.derived import DERIVED
from wireloom.pipeline.progress import SILENT, Progress
from wireloom.pipeline.sharing import check_cluster
from wireloom.pipeline.spark import Spark, Style
from wireloom.pipeline.stages import reprocess as reprocessing
from wireloom.pipeline.stages.analyse import analyse
from wireloom.pipeline.stages.ingest import IngestedBatch, Ingestion
from wireloom.pipeline.stages.inputs import APP
from wireloom.pipeline.stages.refine import refine
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Column, Table
from wireloom.remote import AnyPath

LIGHT: Final = 60_000
"""Up to this number of new rows, a light session is done before a full one has warmed up."""

LIGHT_WHOLE: Final = 500_000
"""Up to this number of rows in all: some tables are computed from all rows of their types."""

RUNS: Final = Table(
    "runs",
    "One row a run of the pipeline that found something new.",
    (
        Column("started_at", "timestamp", "When it began.", "UTC"),
        Column("frames", "bigint", "Rows added to `frames`."),
        Column("quarantine", "bigint", "Rows added to `quarantine`."),
        Column("tables", "map<string,bigint>", "Rows of each table that it wrote."),
        Column("seconds", "map<string,double>", "How long each stage took.", "s"),
    ),
    ("started_at",),
)


class RunResult(NamedTuple):
    """What a run did."""

    frames: int
    quarantine: int
    tables: dict[str, int]
    seconds: dict[str, float]


def run(
    spark: Spark, captures: AnyPath, store: TableStore, *, progress: Progress = SILENT
) -> RunResult:
    """Brings all tables up to date with what is in `captures` now."""
    started_at = datetime.now(UTC)
    batches: list[IngestedBatch] = []
    tables: dict[str, int] = {}
    seconds: dict[str, float] = {}

    def on_batch(ingested: IngestedBatch) -> None:
        batches.append(ingested)
        progress.batch(ingested)

    def on_table(name: str, rows: int) -> None:
        tables[name] = rows
        progress.table(name, rows)

    def timed(stage: str, job: Callable[[], object]) -> None:
        progress.stage(stage)
        begin = perf_counter()
        job()
        seconds[stage] = perf_counter() - begin

    ingestion = Ingestion(spark, captures, store, on_batch=on_batch)
    if _begin(spark, ingestion.waiting(), store):
        check_cluster(spark, store, captures)
    timed("ingest", ingestion.run)
    timed("refine", lambda: refine(spark, store))
    timed(
        "analyse", lambda: analyse(spark, store, on_table=on_table, on_start=progress.table_started)
    )
    result = RunResult(
        sum(one.frames for one in batches),
        sum(one.quarantine for one in batches),
        tables,
        seconds,
    )
    if result.frames or result.quarantine:
        _note(store, started_at, result)
    return result


def _begin(spark: Spark, waiting: int, store: TableStore) -> bool:
    """Starts Spark while frames are stored; gives whether there is anything to do."""
    least = min(store.log.computed(one.table, APP) for one in DERIVED)
    if not waiting and least >= frame_tables.last_slice(store):
        return False
    touched = waiting + frame_tables.count(store, after=least)
    every = waiting + frame_tables.count(store, after=-1)
    is_light = touched <= LIGHT and every <= LIGHT_WHOLE
    spark.begin(Style.LIGHT if is_light else Style.FULL)
    return True


def reprocess(spark: Spark, store: TableStore, *, progress: Progress = SILENT) -> tuple[int, int]:
    """Decodes anew what another version decoded, and brings the other tables up to date.

    Returns:
        How many frames decode and how many do not, of those that were decoded anew.
    """
    check_cluster(spark, store)
    progress.stage("reprocess")
    counts = reprocessing.reprocess(spark, store, on_slice=progress.slice)
    progress.stage("refine")
    refine(spark, store)
    progress.stage("analyse")
    analyse(spark, store, on_table=progress.table, on_start=progress.table_started)
    return counts


def _note(store: TableStore, started_at: datetime, result: RunResult) -> None:
    row = pa.Table.from_pylist([{"started_at": started_at, **result._asdict()}], RUNS.arrow)
    version = store.log.version(RUNS.name) + 1
    store.log.commit(RUNS, [store.written(RUNS, row)], {"run": version})
