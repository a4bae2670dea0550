"""Workers that read and write a table's files through Arrow, for roots that Spark does not reach.

Spark's own reader needs a Hadoop module for object storage, which its packages do not have. Arrow
reads and writes there with nothing else installed, on the driver and on workers alike.
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import NamedTuple
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from wireloom.pipeline.files import MAX_FILE_RECORDS, ParquetFiles
from wireloom.pipeline.paths import leaves, project


class Place(NamedTuple):
    """A table's files, and the columns that are wanted of them."""

    root: str
    name: str
    paths: tuple[str, ...]
    schema: pa.Schema


def read_by_workers(spark: SparkSession, place: Place) -> DataFrame:
    """The rows of some files."""
    count = len(place.paths)
    numbers = spark.range(0, count, 1, count)
    return numbers.mapInArrow(partial(_read, place), from_arrow_schema(place.schema))


def written_by_workers(rows: DataFrame, place: Place) -> list[str]:
    """Writes rows below a table; gives the files, which are not part of it yet."""
    found = rows.mapInArrow(partial(_write, place), "path string")
    return [row.path for row in found.collect()]


def _read(place: Place, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    files = ParquetFiles(place.root)
    paths = leaves(place.schema)
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            with files.open(place.name, place.paths[number]) as opened:
                for group in range(opened.num_row_groups):
                    rows = project(opened.read_row_group(group, paths), paths)
                    yield from rows.select(place.schema.names).cast(place.schema).to_batches()


def _write(place: Place, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Writes what comes to files of a bounded number of rows each."""
    files = ParquetFiles(place.root)
    files.make(place.name)
    for first in batches:
        path = f"{uuid4().hex}.parquet"
        with files.writer(place.name, path, place.schema) as writer:
            count = 0
            for batch in chain([first], batches):
                writer.write_batch(batch.cast(place.schema))
                count += batch.num_rows
                if count >= MAX_FILE_RECORDS:
                    break
        yield pa.RecordBatch.from_pylist([{"path": path}])
