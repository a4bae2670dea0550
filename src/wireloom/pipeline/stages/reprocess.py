"""Reprocess: this version's decoder over the frames that earlier versions decoded.

The bytes of every frame are in the tables, so no capture is needed. Slices are decoded anew one
after the other. Each is committed to a table in one transaction that also removes its old rows. All
files of a slice are written, and listed, before the first of these commits. After a crash the rest
of a list is committed first: no frame is lost between two tables, and none stays in both.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from wireloom import __version__
from wireloom.capture.frame import SCHEMA as CAPTURED
from wireloom.pipeline import frame_tables
from wireloom.pipeline.decoding import decode_batch
from wireloom.pipeline.files import ParquetFiles
from wireloom.pipeline.log import File
from wireloom.pipeline.spark import Spark
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.storing import StoredFile, written
from wireloom.pipeline.tables import Table

APP: Final = f"reprocess {__version__}"
_STAGE: Final = "_stage"
_LISTED: Final = f"reprocess-{__version__}-"

_CAPTURED: Final = {
    "sequence": "cast(substring_index(sighting, '#', -1) as bigint)",
    "reason": "outcome_reason",
}
"""Columns of a capture that the tables have under another name."""


class Slices(NamedTuple):
    """Slices that share files, and are therefore decoded anew together."""

    first: int
    last: int

    @property
    def note(self) -> str:
        """Where the files are listed that they become."""
        return f"{_STAGE}/{_LISTED}{self.first}-{self.last}.json"


def reprocess(
    spark: Spark, store: TableStore, *, on_slice: Callable[[int, int], None]
) -> tuple[int, int]:
    """Decodes anew what another version decoded.

    Args:
        spark: Where frames are decoded.
        store: The tables.
        on_slice: Is called with the last slice that is done and the last that there is.

    Returns:
        How many frames decode and how many do not, of those that were decoded anew.
    """
    counts = {table.name: 0 for table in frame_tables.ingested()}
    end = frame_tables.last_slice(store)
    for slices in chain(_staged(store), _outdated(store, end)):
        for table in frame_tables.ingested():
            counts[table.name] += _commit(spark.session(), store, table, slices, end)
        store.files.remove(slices.note)
        on_slice(slices.last, end)
    frame_tables.announce(store, frame_tables.rewritten(store))
    return counts[frame_tables.frames().name], counts[frame_tables.quarantine().name]


def _staged(store: TableStore) -> list[Slices]:
    """Slices that were listed before a crash and not committed to all tables."""
    found = []
    for name in store.files.names(_STAGE):
        if name.startswith(_LISTED):
            first, last = name.removeprefix(_LISTED).removesuffix(".json").split("-")
            found.append(Slices(int(first), int(last)))
    return found


def _outdated(store: TableStore, end: int) -> Iterator[Slices]:
    """Runs of slices that no file straddles and another version decoded."""
    files = [file for table in frame_tables.ingested() for file in store.log.files(table.name)]
    first = 0
    for last in range(end + 1):
        if any(file.first <= last < file.last for file in files):
            continue
        slices = Slices(first, last)
        if not _done(store, last) and _decoders(store, slices) - {__version__}:
            yield slices
        first = last + 1


def _done(store: TableStore, last: int) -> bool:
    return min(store.log.done(table.name, APP) for table in frame_tables.ingested()) >= last


def _decoders(store: TableStore, slices: Slices) -> set[str]:
    return {
        version.as_py()
        for table in frame_tables.ingested()
        for _, rows in store.scan(table, ["decoder"], _within(store, table, slices))
        for version in pc.unique(rows.column("decoder"))
    }


def _within(store: TableStore, table: Table, slices: Slices) -> list[File]:
    return [
        file for file in store.log.files(table.name) if slices.first <= file.first <= slices.last
    ]


def _commit(spark: SparkSession, store: TableStore, table: Table, slices: Slices, end: int) -> int:
    if store.log.done(table.name, APP) >= slices.last:
        return 0
    paths = [file.path for file in _listed(spark, store, slices) if file.table == table.name]
    outdated = _within(store, table, slices)
    done = {APP: slices.last, frame_tables.REWRITTEN: end + 1}
    return store.log.commit(table, paths, done, removed=outdated)


def _listed(spark: SparkSession, store: TableStore, slices: Slices) -> list[StoredFile]:
    """The files that slices become; they are written if they are not there."""
    note = store.files.read_note(slices.note)
    if note is not None:
        return [StoredFile(*file) for file in json.loads(note)]
    found = _captured(spark, store, slices).mapInArrow(
        partial(_store, store.root), "table string, path string"
    )
    files = [StoredFile(row.table, row.path) for row in found.collect()]
    store.files.write_note(slices.note, json.dumps(files).encode())
    return files


def _captured(spark: SparkSession, store: TableStore, slices: Slices) -> DataFrame:
    """The frames of some slices, as they were captured."""
    parts = [
        store.read(spark, table, _within(store, table, slices)).select(
            *[f.expr(_CAPTURED.get(name, name)).alias(name) for name in CAPTURED.names],
            frame_tables.SLICE,
        )
        for table in (frame_tables.frames(), frame_tables.quarantine())
    ]
    return parts[0].union(parts[1])


def _store(root: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for file in written(ParquetFiles(root), _decode(batches), frame_tables.ingested()):
        yield pa.RecordBatch.from_pylist([file._asdict()])


def _decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        places = batch.column(frame_tables.SLICE)
        for place in pc.unique(places):
            rows = batch.filter(pc.equal(places, place)).drop_columns([frame_tables.SLICE])
            decoded = decode_batch(pa.RecordBatch.from_arrays(rows.columns, schema=CAPTURED))
            yield decoded.append_column(
                pa.field(frame_tables.SLICE, pa.int64()),
                pa.repeat(pa.scalar(place.as_py(), pa.int64()), decoded.num_rows),
            )
