"""Watching: the tables follow the captures until somebody says that it is enough.

Frames are stored as they arrive, in a thread of their own. Tables of which new frames touch some
rows are brought up to date in one pass after the other. The others are computed as a whole, in
turns beside them, the one that is furthest behind first. Files are put together in between.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Final

from deltalake.exceptions import CommitFailedError, DeltaError

from wireloom.pipeline.catalogue import all_tables
from wireloom.pipeline.derived import DERIVED, Derived
from wireloom.pipeline.progress import SILENT, Progress
from wireloom.pipeline.scopes import By
from wireloom.pipeline.sharing import check_cluster
from wireloom.pipeline.spark import Spark, Style
from wireloom.pipeline.stages.analyse import analyse, stalest
from wireloom.pipeline.stages.ingest import Ingestion
from wireloom.pipeline.stages.refine import refine
from wireloom.pipeline.stages.tidy import Sweeper, tidy
from wireloom.pipeline.store import TableStore
from wireloom.remote import AnyPath
from wireloom.wire.visible import visible

POLL_SECONDS: Final = 0.5
"""How often new frames are looked for: more often would leave less time for the tables."""

IDLE_SECONDS: Final = 0.05
"""How long a thread waits that found nothing to do."""

PATIENCE_SECONDS: Final = 5.0
"""How long a thread waits that object storage did not answer."""

FOLLOWING: Final = tuple(one for one in DERIVED if one.scope.by is not By.WHOLE)
WHOLE: Final = tuple(one for one in DERIVED if one.scope.by is By.WHOLE)


def watch(
    spark: Spark,
    captures: AnyPath,
    store: TableStore,
    *,
    progress: Progress = SILENT,
    stopped: Callable[[], bool],
) -> None:
    """Keeps the tables up to date until `stopped` returns true."""
    spark.begin(Style.STEADY)
    check_cluster(spark, store, captures)
    Watch(spark, captures, store, progress).run(stopped)


class Watch:
    """The threads that keep the tables up to date.

    Args:
        spark: Where tables are computed.
        captures: The folder with the segments.
        store: The tables.
        progress: Is told what was done.
    """

    def __init__(
        self, spark: Spark, captures: AnyPath, store: TableStore, progress: Progress
    ) -> None:
        self._spark = spark
        self._store = store
        self._progress = progress
        self._ingestion = Ingestion(spark, captures, store, on_batch=progress.batch)
        self._sweeper = Sweeper(store)
        self._is_remote = store.files.is_remote or not isinstance(captures, Path)
        self._ended = Event()

    def run(self, stopped: Callable[[], bool]) -> None:
        """Works until `stopped` returns true, or until one of the threads fails."""
        with ThreadPoolExecutor(3) as pool:
            threads = [
                pool.submit(self._repeat, turn) for turn in (self._take, self._follow, self._turn)
            ]
            try:
                while not stopped() and not any(thread.done() for thread in threads):
                    self._ended.wait(IDLE_SECONDS)
            finally:
                self._ended.set()
        _raise_first(threads)

    def _repeat(self, turn: Callable[[], float]) -> None:
        """Takes one turn after the other; each says how long to wait for the next."""
        while not self._ended.wait(self._patient(turn)):
            pass

    def _patient(self, turn: Callable[[], float]) -> float:
        """Takes a turn; one that a store on the network fails is taken again after a while."""
        try:
            return turn()
        except CommitFailedError:
            raise
        except (OSError, DeltaError) as error:
            if not self._is_remote:
                raise
            self._progress.trouble(f"{visible(str(error))}; trying again")
            return PATIENCE_SECONDS

    def _take(self) -> float:
        self._ingestion.run()
        return POLL_SECONDS

    def _follow(self) -> float:
        refine(self._spark, self._store)
        self._analyse(FOLLOWING)
        return IDLE_SECONDS

    def _turn(self) -> float:
        tidy(self._store)
        self._sweeper.sweep(table.name for table in all_tables())
        table = stalest(self._store, WHOLE)
        if table is not None:
            self._analyse([table])
        return IDLE_SECONDS

    def _analyse(self, tables: Sequence[Derived]) -> None:
        progress = self._progress
        analyse(
            self._spark,
            self._store,
            on_table=progress.table,
            on_start=progress.table_started,
            tables=tables,
        )


def _raise_first(threads: list[Future[None]]) -> None:
    for thread in threads:
        thread.result()
