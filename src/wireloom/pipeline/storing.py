"""Ingest's own data source: workers decode captured frames and write them as Parquet.

Each share of a micro-batch becomes one file a table, below the table and not yet part of it. Only
the files' names come back to be committed, so rows never cross to the JVM. A file whose share
was done twice, or whose commit never came, belongs to no table and is left for `vacuum`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import LongType, StringType, StructType

from wireloom.pipeline import declared
from wireloom.pipeline.source import Offset, Slice, WireloomSource, WireloomStream, read_slice
from wireloom.pipeline.tables import Store

STORED: Final = pa.schema([("table", pa.string()), ("path", pa.string()), ("slice", pa.int64())])
ROW_GROUP: Final = 100_000


class StoringSource(WireloomSource):
    """The stream that ingest runs on; `tables` says where they lie."""

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
        """All that is there and all that comes."""
        limit = int(self.options["maxRows"])
        return StoringStream(self._folder(), self._partitions(), limit, self.options["tables"])


class Share(Slice):
    """Some batches of some segments, and the slice that they become."""

    def __init__(self, share: Slice, place: int) -> None:
        super().__init__(share.runs)
        self.place = place


class StoringStream(WireloomStream):
    """Stores a folder as it grows."""

    def __init__(self, *given: Any) -> None:
        *known, self._root = given
        super().__init__(*known)
        self._store: Store | None = None

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The batches between two offsets, shared out evenly by rows."""
        self._store = self._store or Store(self._root)
        place = declared.next_slice(self._store)
        return [Share(one, place) for one in self.shares(start, end)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Writes one share and names the files."""
        if not isinstance(partition, Share):
            raise TypeError(partition)
        store = Store(self._root)
        for table in declared.ingested():
            store.make(table.name)
        written = _write(store, read_slice(partition), partition.place)
        rows = [{"table": name, "path": path, "slice": partition.place} for name, path in written]
        yield pa.RecordBatch.from_pylist(rows, schema=STORED)


def _write(store: Store, batches: Iterator[pa.RecordBatch], place: int) -> list[tuple[str, str]]:
    """Writes rows to a file of their table each; gives tables and files."""
    names = {table.name: f"{uuid4().hex}.parquet" for table in declared.ingested()}
    writers: dict[str, pq.ParquetWriter] = {}
    try:
        for batch in batches:
            for table in declared.ingested():
                rows = batch.filter(pc.equal(batch.column(declared.KIND), table.name))
                if not rows.num_rows:
                    continue
                if table.name not in writers:
                    columns = declared.stored(table)
                    writers[table.name] = store.writer(table.name, names[table.name], columns)
                whole = rows.append_column(
                    pa.field(declared.SLICE, pa.int64()),
                    pa.repeat(pa.scalar(place, pa.int64()), rows.num_rows),
                )
                writers[table.name].write_batch(
                    whole.select(declared.stored(table).names), row_group_size=ROW_GROUP
                )
    finally:
        for writer in writers.values():
            writer.close()
    return [(name, names[name]) for name in writers]
