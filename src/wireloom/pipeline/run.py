"""A run of the pipeline: ingest, refine, analyse, each to its end; or again and again."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, sleep
from typing import Final, NamedTuple, Self

from pyspark.sql import SparkSession

from wireloom.pipeline import declared
from wireloom.pipeline.progress import TableStarted, silent
from wireloom.pipeline.stages import reprocess as reprocessing
from wireloom.pipeline.stages.analyse import analyse, recompute, stalest
from wireloom.pipeline.stages.follow import FOLLOWED, follow
from wireloom.pipeline.stages.given import refined
from wireloom.pipeline.stages.ingest import Ingested, ingest
from wireloom.pipeline.stages.refine import refine
from wireloom.pipeline.stages.tidy import tidy
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Column, Table

POLL_SECONDS: Final = 0.05
REST: Final = 10
"""While frames come: for how many times as long as one table's turn took, no other has its turn."""

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


class Told(NamedTuple):
    """Who is told of progress."""

    batch: Callable[[Ingested], None] = silent
    stage: Callable[[str], None] = silent
    table: Callable[[str, int], None] = silent
    """A table is committed, with so many rows."""

    begun: TableStarted = silent
    """A table is to be computed."""

    slice: Callable[[int, int], None] = silent
    """A slice is decoded anew, and which is the last one."""


SILENT: Final = Told()


class Ran(NamedTuple):
    """What a run did."""

    frames: int
    quarantine: int
    tables: dict[str, int]
    seconds: dict[str, float]


def run(spark: SparkSession, captures: Path, store: TableStore, *, told: Told = SILENT) -> Ran:
    """Brings all tables up to date with what is in `captures` now."""
    started_at = datetime.now(UTC)
    batches: list[Ingested] = []
    tables: dict[str, int] = {}
    seconds: dict[str, float] = {}

    def told_batch(ingested: Ingested) -> None:
        batches.append(ingested)
        told.batch(ingested)

    def told_table(name: str, rows: int) -> None:
        tables[name] = rows
        told.table(name, rows)

    def timed(stage: str, job: Callable[[], object]) -> None:
        told.stage(stage)
        begin = perf_counter()
        job()
        seconds[stage] = perf_counter() - begin

    timed("ingest", lambda: ingest(spark, captures, store, told=told_batch).await_end())
    timed("refine", lambda: refine(spark, store))
    timed("analyse", lambda: analyse(spark, store, told=told_table, begun=told.begun))
    ran = Ran(
        sum(one.frames for one in batches),
        sum(one.quarantine for one in batches),
        tables,
        seconds,
    )
    if ran.frames or ran.quarantine:
        _note(spark, store, started_at, ran)
    return ran


def watch(
    spark: SparkSession,
    captures: Path,
    store: TableStore,
    *,
    told: Told = SILENT,
    stopped: Callable[[], bool],
) -> None:
    """Brings the tables up to date, again and again, until `stopped` says so.

    Frames are stored as they come, and the tables that one waits for follow at once. The others
    take turns beside that, one at a time.
    """
    ingestion = ingest(spark, captures, store, told=told.batch, continuous=True)
    try:
        with Turns(spark, store, told) as turns:
            while not stopped() and ingestion.query.isActive:
                came = declared.last_slice(store) > refined(store)
                refine(spark, store)
                if not follow(spark, store, told=told.table):
                    recompute(spark, store, FOLLOWED, told=told.table, begun=told.begun)
                turns.go_on(busy=came)
                if not came:
                    sleep(POLL_SECONDS)
        failure = ingestion.query.exception()
        if failure is not None:
            raise failure
    finally:
        ingestion.stop()


class Turns:
    """Beside other work: files put together, and the table computed that is furthest behind."""

    def __init__(self, spark: SparkSession, store: TableStore, told: Told) -> None:
        self._spark = spark
        self._store = store
        self._told = told
        self._thread = ThreadPoolExecutor(1)
        self._turn: Future[None] | None = None
        self._rest_until = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()

    def go_on(self, *, busy: bool) -> None:
        """Begins the next turn if the last one is over. While frames come, tables rest."""
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
                told=self._told.table,
                begun=self._told.begun,
            )
            self._rest_until = perf_counter() + REST * (perf_counter() - begin)


def reprocess(spark: SparkSession, store: TableStore, *, told: Told = SILENT) -> tuple[int, int]:
    """Decodes anew what another version decoded, and brings the other tables up to date.

    Returns:
        How many frames decode and how many do not, of those that were decoded anew.
    """
    told.stage("reprocess")
    counts = reprocessing.reprocess(spark, store, told=told.slice)
    told.stage("refine")
    refine(spark, store)
    told.stage("analyse")
    analyse(spark, store, told=told.table, begun=told.begun)
    return counts


def _note(spark: SparkSession, store: TableStore, started_at: datetime, ran: Ran) -> None:
    row = spark.createDataFrame(
        [(started_at, ran.frames, ran.quarantine, ran.tables, ran.seconds)], RUNS.schema
    )
    store.append(RUNS, row, app="run", version=store.log.version(RUNS.name) + 1)
