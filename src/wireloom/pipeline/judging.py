"""Judging by workers that read the tables themselves.

Each worker has a share of the contents, chosen by their hash. It reads the files' contents, picks
the first row of each content that has no verdict, reads the bytes of these rows alone, and judges
them. No frame crosses to the JVM, and no frames are sorted or shuffled to find the distinct ones.
Every worker reads all contents, so beyond `SHARED_ROWS` Spark brings equal contents together.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Final, NamedTuple
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from wireloom.pipeline.files import ParquetFiles
from wireloom.pipeline.log import File
from wireloom.pipeline.verdicts import CHECKED, SCHEMA, WANTED, judge_batches
from wireloom.wire.batch import Array

SHARED_ROWS: Final = 4_000_000

_PREFIXES: Final = pa.array([f"{number:02x}" for number in range(256)])


class Assignment(NamedTuple):
    """What workers are to judge."""

    root: str
    """The root of the tables."""

    files: list[tuple[str, File]]
    """Tables and files that frames are read from."""

    verdicts: list[tuple[str, File]]
    """Tables and files that existing verdicts are read from."""

    after: int
    """Frames of later slices are judged, if they have no verdict."""

    upto: int
    waiting: pa.Array
    """Contents that are judged again, whichever slice they are in."""

    keys: Mapping[str, bytes]


def judged_by_workers(spark: SparkSession, wanted: Assignment, schema: StructType) -> DataFrame:
    """The verdicts that are missing."""
    shares = spark.sparkContext.defaultParallelism
    return _numbers(spark, shares).mapInArrow(partial(_judge, wanted, shares), schema)


def stored_by_workers(spark: SparkSession, wanted: Assignment, name: str) -> list[str]:
    """Stores the missing verdicts in files below a table; the caller commits them."""
    shares = spark.sparkContext.defaultParallelism
    files = _numbers(spark, shares).mapInArrow(partial(_store, wanted, shares, name), "path string")
    return [row.path for row in files.collect()]


def _numbers(spark: SparkSession, shares: int) -> DataFrame:
    return spark.range(0, shares, 1, shares)


def _judge(
    wanted: Assignment, shares: int, numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    judge = judge_batches(wanted.keys, wanted.upto)
    for batch in numbers:
        for number in batch.column("id").to_pylist():
            yield from judge(_rows(wanted, shares, number))


def _store(
    wanted: Assignment, shares: int, name: str, numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    judged = _judge(wanted, shares, numbers)
    first = next(judged, None)
    if first is not None:
        path = f"{uuid4().hex}.parquet"
        with ParquetFiles(wanted.root).writer(name, path, SCHEMA) as writer:
            for batch in chain([first], judged):
                writer.write_batch(batch)
        yield pa.RecordBatch.from_pylist([{"path": path}])


def _rows(wanted: Assignment, shares: int, number: int) -> Iterator[pa.RecordBatch]:
    """The first row of each open content in a share."""
    files = ParquetFiles(wanted.root)
    settled = _settled(files, wanted, shares, number)
    seen: set[str] = set()
    for name, file in wanted.files:
        with files.open(name, file.path) as opened:
            for group in range(opened.num_row_groups):
                rows = opened.read_row_group(group, ["protocol", "content", "slice"])
                open_ = _first(rows, wanted, shares, number, settled)
                contents = rows.column("content").take(pa.array(open_)).to_pylist()
                chosen = pa.array(open_[[content not in seen for content in contents]])
                seen.update(contents)
                if len(chosen):
                    named = rows.take(chosen)
                    rest = opened.read_row_group(group, ["source", "raw"]).take(chosen)
                    whole = [named["protocol"], named["content"], rest["source"], rest["raw"]]
                    yield from pa.table(whole, list(WANTED)).combine_chunks().to_batches()


def _first(
    rows: pa.Table, wanted: Assignment, shares: int, number: int, settled: pa.Array
) -> Array:
    """The first row of each content of a share that is not settled."""
    content = rows.column("content").combine_chunks()
    fresh = pc.and_(
        pc.greater(rows.column("slice"), wanted.after),
        pc.less_equal(rows.column("slice"), wanted.upto),
    )
    if len(wanted.waiting):
        fresh = pc.or_(fresh, pc.is_in(content, value_set=wanted.waiting))
    checked = pc.is_in(rows.column("protocol"), value_set=pa.array(CHECKED))
    mine = _in_share(content, shares, number)
    places = np.flatnonzero(mine & pc.and_(fresh, checked).to_numpy())
    codes = content.take(pa.array(places)).dictionary_encode()
    first = np.unique(codes.indices.to_numpy(), return_index=True)[1]
    if len(settled):
        known = pc.is_in(codes.dictionary, value_set=settled).to_numpy(zero_copy_only=False)
        first = first[~known]
    found: Array = places[first]
    return found


def _in_share(contents: pa.Array, shares: int, number: int) -> Array:
    prefix = pc.index_in(pc.utf8_slice_codeunits(contents, 0, 2), value_set=_PREFIXES)
    found: Array = prefix.to_numpy() % shares == number
    return found


def _settled(files: ParquetFiles, wanted: Assignment, shares: int, number: int) -> pa.Array:
    """Contents of a share that have a verdict and are not to be judged again."""
    parts = [pa.array([], pa.string())]
    for name, file in wanted.verdicts:
        with files.open(name, file.path) as opened:
            contents = opened.read(["content"]).column("content").combine_chunks()
        mine = pa.array(_in_share(contents, shares, number))
        waits = pc.is_in(contents, value_set=wanted.waiting)
        parts.append(contents.filter(pc.and_not(mine, waits)))
    return pa.concat_arrays(parts)
