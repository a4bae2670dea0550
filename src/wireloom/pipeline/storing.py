"""Ingest's own data source: workers decode captured frames and write them as Parquet.

Each share of a micro-batch becomes one file per table. The file lies below the table and is not
part of it yet: its name is returned to the driver, which commits it. So rows never cross to the
JVM. A file whose share was processed twice, or that was never committed, is left for `vacuum`.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import LongType, StringType, StructType

from wireloom.capture.receipts import put_receipt
from wireloom.pipeline import frame_tables
from wireloom.pipeline.files import ParquetFiles
from wireloom.pipeline.source import Offset, Slice, WireloomSource, WireloomStream, read_slice
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Table

STORED: Final = pa.schema([("table", pa.string()), ("path", pa.string()), ("slice", pa.int64())])
ROW_GROUP: Final = 100_000
ENOUGH: Final = 10_000
"""This number of rows is written at once; fewer wait for more, or for the end."""


class StoringSource(WireloomSource):
    """The stream that ingest runs on; the option `tables` is the root of the tables."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "wireloom_stored"

    def schema(self) -> StructType:
        """One row a file."""
        return (
            StructType()
            .add("table", StringType())
            .add("path", StringType())
            .add("slice", LongType())
        )

    def streamReader(self, schema: StructType) -> "StoringStream":  # noqa: ARG002, N802
        """Stores the segments that exist, and what is added later."""
        limit = int(self.options["maxRows"])
        return StoringStream(self._folder(), self._partitions(), limit, self.options["tables"])


class Share(Slice):
    """Some batches of some segments, and the slice that they become."""

    def __init__(self, share: Slice, place: int) -> None:
        super().__init__(share.runs)
        self.place = place


class StoringStream(WireloomStream):
    """Stores a folder as it grows."""

    def __init__(self, *arguments: Any) -> None:
        *known, self._root = arguments
        super().__init__(*known)
        self._store: TableStore | None = None
        self._marked: Offset | None = None

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        """How far the next micro-batch goes; everything before `start` is marked as stored."""
        if start != self._marked:
            with suppress(OSError):  # captures that cannot be written are read all the same
                put_receipt(self._folder, self._root, start)
            self._marked = start
        return super().latestOffset(start, limit)

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The batches between two offsets, shared out evenly by rows."""
        self._store = self._store or TableStore(self._root)
        place = frame_tables.next_slice(self._store)
        return [Share(one, place) for one in self.shares(start, end)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Writes one share and names the files."""
        if not isinstance(partition, Share):
            raise TypeError(partition)
        files = ParquetFiles(self._root)
        for table in frame_tables.ingested():
            files.make(table.name)
        written = _write(files, read_slice(partition), partition.place)
        rows = [{"table": name, "path": path, "slice": partition.place} for name, path in written]
        yield pa.RecordBatch.from_pylist(rows, schema=STORED)


class _File:
    """A file of one table, created with its first rows.

    Args:
        files: The files below the root of the tables.
        table: The table.
        place: The slice that the rows become part of.
    """

    def __init__(self, files: ParquetFiles, table: Table, place: int) -> None:
        self.path = f"{uuid4().hex}.parquet"
        self.writer: pq.ParquetWriter | None = None
        self.taken = [
            name for name in frame_tables.stored(table).names if name != frame_tables.SLICE
        ]
        """The columns that rows come with."""
        self._files = files
        self._name = table.name
        self._columns = frame_tables.stored(table)
        self._place = place
        self._waiting: list[pa.RecordBatch] = []

    def add(self, rows: pa.RecordBatch) -> None:
        """Writes rows, or holds them: many small row groups are slow to write and to read."""
        self._waiting.append(rows)
        if sum(one.num_rows for one in self._waiting) >= ENOUGH:
            self._write()

    def close(self) -> None:
        """Ends the file."""
        if self._waiting:
            self._write()
        if self.writer is not None:
            self.writer.close()

    def _write(self) -> None:
        if self.writer is None:
            self.writer = self._files.writer(self._name, self.path, self._columns)
        rows = pa.Table.from_batches(self._waiting)
        self._waiting = []
        slices = pa.repeat(pa.scalar(self._place, pa.int64()), len(rows))
        whole = rows.append_column(pa.field(frame_tables.SLICE, pa.int64()), slices)
        self.writer.write_table(whole.select(self._columns.names), row_group_size=ROW_GROUP)


def _write(
    files: ParquetFiles, batches: Iterator[pa.RecordBatch], place: int
) -> list[tuple[str, str]]:
    """Writes the rows of each table to one file; gives tables and files."""
    parts = {table.name: _File(files, table, place) for table in frame_tables.ingested()}
    try:
        for batch in batches:
            for name, file in parts.items():
                mask = pc.equal(batch.column(frame_tables.KIND), name)
                if mask.true_count:
                    file.add(_chosen(batch.select(file.taken), mask))
    finally:
        for file in parts.values():
            file.close()
    return [(name, file.path) for name, file in parts.items() if file.writer is not None]


def _chosen(batch: pa.RecordBatch, mask: pa.BooleanArray) -> pa.RecordBatch:
    """The rows under a mask."""
    count = mask.true_count
    columns = [_filtered(column, mask, count) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _filtered(column: pa.Array, mask: pa.BooleanArray, count: int) -> pa.Array:
    """The values under a mask. A column of nulls, as most fields are, is sliced and not copied."""
    if column.null_count == len(column):
        return column.slice(0, count)
    if not pa.types.is_struct(column.type):
        return column.filter(mask)
    fields = [
        _filtered(column.field(place), mask, count) for place in range(column.type.num_fields)
    ]
    bits = column.is_valid().filter(mask).buffers()[1] if column.null_count else None
    return pa.Array.from_buffers(column.type, count, [bits], children=fields)
