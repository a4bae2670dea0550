"""A run of the pipeline: ingest, refine and analyse, once or continuously."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, sleep
from typing import Final, NamedTuple, Self

from pyspark.sql import SparkSession

from wireloom.pipeline import frame_tables
from wireloom.pipeline.progress import SILENT, Progress
from wireloom.pipeline.stages import reprocess as reprocessing
from wireloom.pipeline.stages.analyse import analyse, recompute, stalest
from wireloom.pipeline.stages.follow import FOLLOWED, follow
from wireloom.pipeline.stages.ingest import IngestedBatch, ingest
from wireloom.pipeline.stages.inputs import refined
from wireloom.pipeline.stages.refine import refine
from wireloom.pipeline.stages.tidy import tidy
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Column, Table

POLL_SECONDS: Final = 0.05
REST: Final = 10
"""While frames arrive, the pause after a table's turn is this many times as long as the turn."""

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
    spark: SparkSession, captures: Path, store: TableStore, *, progress: Progress = SILENT
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

    timed("ingest", lambda: ingest(spark, captures, store, on_batch=on_batch).await_end())
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
        _note(spark, store, started_at, result)
    return result


def watch(
    spark: SparkSession,
    captures: Path,
    store: TableStore,
    *,
    progress: Progress = SILENT,
    stopped: Callable[[], bool],
) -> None:
    """Keeps the tables up to date until `stopped` returns true.

    Frames are stored as they arrive, and the tables that follow them are updated at once. The
    other tables are computed in the background, one at a time.
    """
    ingestion = ingest(spark, captures, store, on_batch=progress.batch, continuous=True)
    try:
        with Turns(spark, store, progress) as turns:
            while not stopped() and ingestion.query.isActive:
                is_busy = frame_tables.last_slice(store) > refined(store)
                refine(spark, store)
                if not follow(spark, store, on_table=progress.table):
                    recompute(
                        spark,
                        store,
                        FOLLOWED,
                        on_table=progress.table,
                        on_start=progress.table_started,
                    )
                turns.go_on(busy=is_busy)
                if not is_busy:
                    sleep(POLL_SECONDS)
        failure = ingestion.query.exception()
        if failure is not None:
            raise failure
    finally:
        ingestion.stop()


class Turns:
    """Work in the background: compacts files, and computes the table that is furthest behind."""

    def __init__(self, spark: SparkSession, store: TableStore, progress: Progress) -> None:
        self._spark = spark
        self._store = store
        self._progress = progress
        self._thread = ThreadPoolExecutor(1)
        self._turn: Future[None] | None = None
        self._rest_until = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()

    def go_on(self, *, busy: bool) -> None:
        """Begins the next turn if the last one is over; while frames arrive, only after a pause."""
        if self._turn is not None and self._turn.done():
            self._turn.result()
            self._turn = None
        if self._turn is None:
            rests = busy and perf_counter() < self._rest_until
            table = None if rests else stalest(self._store)
            self._turn = self._thread.submit(self._take_turn, table)

    def _take_turn(self, table: Table | None) -> None:
        tidy(self._store)
        if table is not None:
            begin = perf_counter()
            recompute(
                self._spark,
                self._store,
                [table],
                on_table=self._progress.table,
                on_start=self._progress.table_started,
            )
            self._rest_until = perf_counter() + REST * (perf_counter() - begin)


def reprocess(
    spark: SparkSession, store: TableStore, *, progress: Progress = SILENT
) -> tuple[int, int]:
    """Decodes anew what another version decoded, and brings the other tables up to date.

    Returns:
        How many frames decode and how many do not, of those that were decoded anew.
    """
    progress.stage("reprocess")
    counts = reprocessing.reprocess(spark, store, on_slice=progress.slice)
    progress.stage("refine")
    refine(spark, store)
    progress.stage("analyse")
    analyse(spark, store, on_table=progress.table, on_start=progress.table_started)
    return counts


def _note(spark: SparkSession, store: TableStore, started_at: datetime, result: RunResult) -> None:
    row = spark.createDataFrame(
        [(started_at, result.frames, result.quarantine, result.tables, result.seconds)], RUNS.schema
    )
    store.append(RUNS, row, app="run", version=store.log.version(RUNS.name) + 1)
