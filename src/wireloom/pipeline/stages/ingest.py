"""Ingest: captured segments to `frames` and `quarantine`, each frame exactly once.

Frames are stored slice by slice. Files of their own for each table are written first, a little in
this process and much by Spark's workers, and then committed to each table under the slice's number.
What a slice has of each segment stands in the same commits (`taken`). After a crash in between, the
tables that have the slice are passed over.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from wireloom.capture.receipts import put_receipt
from wireloom.pipeline import frame_tables
from wireloom.pipeline.frame_tables import SLICE
from wireloom.pipeline.source import Offset, share
from wireloom.pipeline.spark import CORES, Spark
from wireloom.pipeline.stages.inputs import refined
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.storing import StoredFile, Storing, stored_by_workers, stored_here
from wireloom.pipeline.taken import MAX_ROWS, Ledger, Portion
from wireloom.remote import AnyPath

HERE: Final = 40_000
"""Up to this number of rows, storing them in this process is done before workers have started."""


class IngestedBatch(NamedTuple):
    """What one slice brought."""

    batch: int
    frames: int
    quarantine: int


class Ingestion:
    """Stores what is in a folder of captures in the tables.

    Args:
        spark: For much at once.
        captures: The folder with the segments.
        store: The tables.
        on_batch: Is called with each slice after it is committed.
        max_rows: Rows of a slice, at the most.
    """

    def __init__(
        self,
        spark: Spark,
        captures: AnyPath,
        store: TableStore,
        *,
        on_batch: Callable[[IngestedBatch], None],
        max_rows: int = MAX_ROWS,
    ) -> None:
        self._spark = spark
        self._captures = captures
        self._store = store
        self._on_batch = on_batch
        self._max_rows = max_rows
        self._ledger = Ledger(captures, store)
        self._told: Offset | None = None

    def waiting(self) -> int:
        """How many frames are to be stored, at least: the next slice's."""
        portion = self._ledger.next(self._max_rows)
        return 0 if portion is None else portion.rows

    def run(self) -> None:
        """Stores all that is there, and tells so beside the captures."""
        self._announce()
        while (portion := self._ledger.next(self._max_rows)) is not None:
            self._on_batch(self._take(portion))
        self._tell(self._ledger.taken())

    def _take(self, portion: Portion) -> IngestedBatch:
        files = self._stored(portion)
        counts = {table.name: 0 for table in frame_tables.ingested()}
        for table in frame_tables.ingested():
            if table.name in portion.tables:
                paths = [file.path for file in files if file.table == table.name]
                counts[table.name] = self._store.log.commit(table, paths, self._marks(portion))
        self._ledger.stored(portion)
        self._announce()
        return IngestedBatch(portion.place, counts["frames"], counts["quarantine"])

    def _announce(self) -> None:
        """Has other tables take up what was rewritten, once all tables of ingest have it."""
        places = {self._store.log.done(one.name, SLICE) for one in frame_tables.ingested()}
        if len(places) == 1:
            frame_tables.announce(self._store, frame_tables.rewritten(self._store))

    def _marks(self, portion: Portion) -> dict[str, int]:
        """How far a table is with a portion. What other tables have taken up is rewritten."""
        marks = portion.marks()
        if portion.is_whole and portion.place <= refined(self._store):
            marks[frame_tables.REWRITTEN] = portion.place + 1
        return marks

    def _stored(self, portion: Portion) -> list[StoredFile]:
        few = self._spark.is_local and portion.rows <= HERE
        shares = share(portion.runs, 1 if few else self._parallelism())
        wanted = Storing(self._store.root, portion.tables, portion.place, shares)
        return stored_here(wanted) if few else stored_by_workers(self._spark.session(), wanted)

    def _parallelism(self) -> int:
        if self._spark.is_local:
            return CORES
        return int(self._spark.session().sparkContext.defaultParallelism)

    def _tell(self, taken: Offset) -> None:
        if taken != self._told:
            with suppress(OSError):  # captures that cannot be written are read all the same
                put_receipt(self._captures, self._store.root, taken)
            self._told = taken


def ingest(
    spark: Spark,
    captures: AnyPath,
    store: TableStore,
    *,
    on_batch: Callable[[IngestedBatch], None],
) -> None:
    """Stores what is in a folder of captures now."""
    Ingestion(spark, captures, store, on_batch=on_batch).run()
