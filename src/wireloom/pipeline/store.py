"""Reading and writing tables: Spark writes Parquet, delta-rs commits it in one transaction.

A repeated write is recognised by its application transaction and skipped, so a repeated batch
changes nothing. Files of a commit that never happened are left for `vacuum`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from wireloom.pipeline.files import MAX_FILE_RECORDS, ParquetFiles
from wireloom.pipeline.log import DeltaLog, File
from wireloom.pipeline.marks import Marks
from wireloom.pipeline.scanning import Place, read_by_workers, written_by_workers
from wireloom.pipeline.tables import Table

_PLACE: Final = "place"
"""A column for the place of each row."""


class TableStore:
    """The tables below one root.

    Args:
        root: A path or a URL.
    """

    def __init__(self, root: str | Path) -> None:
        self.files = ParquetFiles(root)
        self.log = DeltaLog(self.files)
        self.root = self.files.root
        self._marks = Marks()

    def read(
        self,
        spark: SparkSession,
        table: Table,
        files: Sequence[File] | None = None,
        *,
        schema: pa.Schema | None = None,
    ) -> DataFrame:
        """The rows of a table, or of some of its files; none if it does not exist yet.

        Args:
            spark: The session.
            table: The table.
            files: Its files; all if it is None.
            schema: The columns that are wanted; all if it is None.
        """
        chosen = self.log.files(table.name) if files is None else files
        wanted = table.arrow if schema is None else schema
        if not chosen:
            return spark.createDataFrame([], from_arrow_schema(wanted))
        if self.files.is_remote:
            paths = tuple(file.path for file in chosen)
            return read_by_workers(spark, Place(self.root, table.name, paths, wanted))
        uris = [f"{self.files.uri(table.name)}/{file.path}" for file in chosen]
        return spark.read.schema(from_arrow_schema(wanted)).parquet(*uris)

    def scan(
        self,
        table: Table,
        columns: Sequence[str],
        files: Sequence[File] | None = None,
        *,
        where: pc.Expression | None = None,
    ) -> Iterator[tuple[File, pa.Table]]:
        """Some columns of each file, without Spark; a dot leads into a struct."""
        for file in self.log.files(table.name) if files is None else files:
            with self.files.open(table.name, file.path) as opened:
                rows = opened.read(columns=list(columns))
                yield file, rows if where is None else rows.filter(where)

    def choose(
        self, table: Table, columns: Sequence[str], where: pc.Expression, told: Sequence[str]
    ) -> Iterator[pa.Table]:
        """Some columns of the rows that meet a condition.

        The columns `told` that the condition is about are read first; of the others no more than
        the row groups that have such rows.
        """
        rest = [name for name in columns if name not in told]
        for file in self.log.files(table.name):
            with self.files.open(table.name, file.path) as opened:
                for group in range(opened.num_row_groups):
                    known = opened.read_row_group(group, list(told))
                    places = pa.array(range(known.num_rows), pa.int64())
                    hits = known.append_column(_PLACE, places).filter(where).column(_PLACE)
                    if len(hits):
                        more = opened.read_row_group(group, rest).take(hits)
                        yield _beside(known.take(hits), more)

    def holding(
        self, table: Table, columns: Sequence[str], marked: Sequence[str], values: pa.Array
    ) -> Iterator[tuple[File, pa.Table]]:
        """As `scan`, for those row groups that may have one of `values` in a `marked` column."""
        files = {file.path: file for file in self.log.files(table.name)}
        found = self._marks.holding(
            table.name, marked, values, files, lambda path: self.files.open(table.name, path)
        )
        for path, groups in found.items():
            with self.files.open(table.name, path) as opened:
                yield files[path], opened.read_row_groups(groups, columns=list(columns))

    def append(self, table: Table, rows: DataFrame, *, app: str, version: int) -> int:
        """Adds rows in one transaction, unless `app` did so up to `version` before."""
        if self.log.done(table.name, app) >= version:
            return 0
        return self.log.commit(table, self._write(table, rows), {app: version})

    def replace(
        self,
        table: Table,
        rows: DataFrame,
        *,
        app: str,
        version: int,
        also: Mapping[str, int] | None = None,
    ) -> int:
        """Makes `rows` all there is, in one transaction, with the same guard."""
        return self._overwrite(table, lambda: self._write(table, rows), app, version, also)

    def put(
        self,
        table: Table,
        rows: pa.Table,
        *,
        app: str,
        version: int,
        also: Mapping[str, int] | None = None,
    ) -> int:
        """As `replace`, for rows in this process."""
        return self._overwrite(
            table,
            lambda: [self.written(table, rows)] if rows.num_rows else [],
            app,
            version,
            also,
        )

    def _overwrite(
        self,
        table: Table,
        write: Callable[[], list[str]],
        app: str,
        version: int,
        also: Mapping[str, int] | None,
    ) -> int:
        if self.log.computed(table, app) >= version:
            return 0
        done = {app: version, **(also or {})}
        return self.log.commit(table, write(), done, mode="overwrite")

    def written(self, table: Table, rows: pa.Table) -> str:
        """Writes rows below a table; gives the file, which is not part of it yet."""
        path = f"{uuid4().hex}.parquet"
        self.files.make(table.name)
        with self.files.writer(table.name, path, table.arrow) as writer:
            writer.write_table(rows)
        return path

    def _write(self, table: Table, rows: DataFrame) -> list[str]:
        """Writes rows below a table; gives the files, which are not part of it yet."""
        chosen = rows.select([f.col(c.name).cast(c.type).alias(c.name) for c in table.columns])
        if self.files.is_remote:
            return written_by_workers(chosen, Place(self.root, table.name, (), table.arrow))
        folder = uuid4().hex
        chosen.write.option("maxRecordsPerFile", MAX_FILE_RECORDS).parquet(
            f"{self.files.uri(table.name)}/{folder}"
        )
        return self.files.paths(table.name, folder)


def _beside(one: pa.Table, other: pa.Table) -> pa.Table:
    """The columns of both."""
    for name in other.column_names:
        one = one.append_column(other.schema.field(name), other.column(name))
    return one
