"""Storing a share of the captures: decoded frames become Parquet files below the tables.

Each share becomes one file per table, written here or by a worker of Spark's. The file lies below
the table and is not part of it yet: its name is given back, to be committed. So rows never cross to
the JVM. A file whose share was processed twice, or that was never committed, is left for `vacuum`.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from wireloom.pipeline import frame_tables
from wireloom.pipeline.files import ParquetFiles
from wireloom.pipeline.source import Slice, read_slice
from wireloom.pipeline.tables import Table

ROW_GROUP: Final = 100_000
ENOUGH: Final = 25_000
"""This number of rows of a protocol is written at once; fewer wait for more, or for the end."""


class StoredFile(NamedTuple):
    """A file that was written."""

    table: str
    path: str


class Storing(NamedTuple):
    """What is stored, and where."""

    root: str
    """The root of the tables."""

    tables: tuple[str, ...]
    """The tables that get rows."""

    place: int
    """The slice that the rows become part of."""

    shares: Sequence[Slice]


def stored_here(wanted: Storing) -> list[StoredFile]:
    """Stores all shares in this process."""
    return [file for share in wanted.shares for file in _stored(wanted, share)]


def stored_by_workers(spark: SparkSession, wanted: Storing) -> list[StoredFile]:
    """Has each share stored by a worker of Spark's."""
    count = len(wanted.shares)
    numbers = spark.range(0, count, 1, count)
    files = numbers.mapInArrow(partial(_store, wanted), "table string, path string")
    return [StoredFile(row.table, row.path) for row in files.collect()]


def _store(wanted: Storing, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            for file in _stored(wanted, wanted.shares[number]):
                yield pa.RecordBatch.from_pylist([file._asdict()])


def _stored(wanted: Storing, share: Slice) -> list[StoredFile]:
    files = ParquetFiles(wanted.root)
    tables = [table for table in frame_tables.ingested() if table.name in wanted.tables]
    return written(files, (_placed(rows, wanted.place) for rows in read_slice(share)), tables)


def _placed(rows: pa.RecordBatch, place: int) -> pa.RecordBatch:
    """Decoded rows, and the slice that they become part of."""
    slices = pa.repeat(pa.scalar(place, pa.int64()), rows.num_rows)
    return rows.append_column(pa.field(frame_tables.SLICE, pa.int64()), slices)


def written(
    files: ParquetFiles, batches: Iterator[pa.RecordBatch], tables: Sequence[Table]
) -> list[StoredFile]:
    """Writes decoded rows to one file of each table that gets some.

    Args:
        files: The files below the root of the tables.
        batches: The rows, with their slices.
        tables: The tables of ingest that get rows.
    """
    parts = {table.name: _File(files, table) for table in tables}
    try:
        for batch in batches:
            for name, file in parts.items():
                mask = pc.equal(batch.column(frame_tables.KIND), name)
                if mask.true_count:
                    file.add(_chosen(batch.select(file.columns.names), mask))
    finally:
        for file in parts.values():
            file.close()
    return [StoredFile(name, file.path) for name, file in parts.items() if file.writer is not None]


class _File:
    """A file of one table, created with its first rows.

    Many rows of a protocol become a row group of their own: who asks for one protocol passes over
    the others.

    Args:
        files: The files below the root of the tables.
        table: The table.
    """

    def __init__(self, files: ParquetFiles, table: Table) -> None:
        self.path = f"{uuid4().hex}.parquet"
        self.writer: pq.ParquetWriter | None = None
        self.columns = table.arrow
        self._files = files
        self._name = table.name
        self._waiting: dict[str | None, list[pa.RecordBatch]] = {}

    def add(self, rows: pa.RecordBatch) -> None:
        """Writes rows, or holds them: many small row groups are slow to write and to read."""
        for protocol, part in _by_protocol(rows):
            waiting = self._waiting.setdefault(protocol, [])
            waiting.append(part)
            if sum(one.num_rows for one in waiting) >= ENOUGH:
                self._write(self._waiting.pop(protocol))

    def close(self) -> None:
        """Ends the file. If it is small, it has one row group."""
        if self.writer is None and self._waiting:
            self._write([rows for part in self._waiting.values() for rows in part])
        elif self.writer is not None:
            for part in self._waiting.values():
                self._write(part)
        if self.writer is not None:
            self.writer.close()

    def _write(self, parts: list[pa.RecordBatch]) -> None:
        if self.writer is None:
            self._files.make(self._name)
            self.writer = self._files.writer(self._name, self.path, self.columns)
        self.writer.write_table(pa.Table.from_batches(parts), row_group_size=ROW_GROUP)


def _by_protocol(rows: pa.RecordBatch) -> Iterator[tuple[str | None, pa.RecordBatch]]:
    """The rows of each protocol."""
    column = rows.column("protocol")
    distinct = column.unique()
    if len(distinct) == 1:
        yield distinct[0].as_py(), rows
        return
    for protocol in distinct:
        mask = pc.equal(column, protocol) if protocol.is_valid else column.is_null()
        yield protocol.as_py(), _chosen(rows, pc.fill_null(mask, fill_value=False))


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
