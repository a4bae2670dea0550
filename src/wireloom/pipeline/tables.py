"""Delta tables: Spark or Arrow writes Parquet, delta-rs commits it in one transaction.

A commit carries an application transaction (who, up to which version). A commit that was
made already is recognised by it and skipped, so a repeated batch changes nothing, and a
reader sees whole batches only. Files of a commit that never happened are left for `vacuum`.

A root is a local folder or a location on object storage that Spark, Arrow and delta-rs reach
alike (`s3a://…`, `gs://…`, `abfss://…`; credentials come from the environment).
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from threading import local
from typing import Final, NamedTuple, cast
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction
from pyarrow.fs import FileSelector, FileType
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from wireloom.pipeline.marks import Marks
from wireloom.roots import Root

MAX_FILE_RECORDS: Final = 2_000_000
BOUNDED: Final = ("slice", "captured_at")
"""Columns whose least and greatest value the log keeps for every file."""


Begun = Callable[[str, int, int], None]
"""Is told of a table that has its turn: its name, its place among all, and how many these are."""


def nobody(*_: object) -> None:
    """Who is told where nobody asked to be."""


class Column(NamedTuple):
    """One column of a table."""

    name: str
    type: str
    """As in Spark's DDL."""

    meaning: str
    unit: str = ""


class Table(NamedTuple):
    """What a table is."""

    name: str
    about: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    """The columns that tell its rows apart."""

    @property
    def schema(self) -> StructType:
        """For Spark."""
        return _parsed(self.columns)

    @property
    def arrow(self) -> pa.Schema:
        """The same for Arrow."""
        return _as_arrow(self.columns)


class File(NamedTuple):
    """A Parquet file of a table, as the log knows it."""

    path: str
    """Below the table."""

    rows: int
    size: int
    """Bytes."""

    first: int
    """The first slice of the capture that it has rows of, if the table has slices."""

    last: int
    """The last one."""

    latest: datetime | None
    """Its last capture, to the millisecond."""


class Store:
    """The tables below one root."""

    def __init__(self, root: str | Path) -> None:
        self._root = Root(root)
        self.root = self._root.spark
        self._delta_root = self._root.delta
        self._disk, self._base = self._root.disk, self._root.base
        # Reading a log anew costs more with every commit; reading on in it does not.
        self._opened = local()
        self._listed = local()
        self._marks = Marks()

    def uri(self, name: str) -> str:
        """Where a table lies, for Spark."""
        return f"{self.root}/{name}"

    def open(self, name: str) -> DeltaTable | None:
        """The table as it is now, if it exists."""
        known: dict[str, DeltaTable] = self._opened.__dict__
        if name in known:
            known[name].update_incremental()
            return known[name]
        try:
            return known.setdefault(name, DeltaTable(f"{self._delta_root}/{name}"))
        except TableNotFoundError:
            return None

    def files(self, name: str) -> list[File]:
        """The files that make up a table now."""
        opened = self.open(name)
        if opened is None:
            return []
        known: dict[str, tuple[int, list[File]]] = self._listed.__dict__
        if name not in known or known[name][0] != opened.version():
            known[name] = opened.version(), _files(opened)
        return known[name][1]

    def read(
        self, spark: SparkSession, table: Table, files: Sequence[File] | None = None
    ) -> DataFrame:
        """The rows of a table, or of some of its files; none if it does not exist yet."""
        chosen = self.files(table.name) if files is None else files
        if not chosen:
            return spark.createDataFrame([], table.schema)
        paths = [f"{self.uri(table.name)}/{file.path}" for file in chosen]
        return spark.read.schema(table.schema).parquet(*paths)

    def scan(
        self, table: Table, columns: Sequence[str], files: Sequence[File] | None = None
    ) -> Iterator[tuple[File, pa.Table]]:
        """Some columns of each file, without Spark; a dot leads into a struct."""
        for file in self.files(table.name) if files is None else files:
            with self.parquet(table.name, file) as opened:
                yield file, opened.read(columns=list(columns))

    def holding(
        self, table: Table, columns: Sequence[str], marked: Sequence[str], values: pa.Array
    ) -> Iterator[tuple[File, pa.Table]]:
        """As `scan`, for those row groups that may have one of `values` in a `marked` column."""
        files = {file.path: file for file in self.files(table.name)}
        found = self._marks.holding(
            table.name, marked, values, files, lambda path: self.parquet(table.name, files[path])
        )
        for path, groups in found.items():
            with self.parquet(table.name, files[path]) as opened:
                yield files[path], opened.read_row_groups(groups, columns=list(columns))

    def parquet(self, name: str, file: File) -> pq.ParquetFile:
        """A file of a table, to read from."""
        return pq.ParquetFile(f"{self._base}/{name}/{file.path}", filesystem=self._disk)

    def done(self, name: str, app: str) -> int:
        """Up to which version `app` has committed; -1 if never."""
        opened = self.open(name)
        version = opened.transaction_version(app) if opened is not None else None
        return -1 if version is None else version

    def computed(self, table: Table, app: str) -> int:
        """The same of a table that is computed whole; -1 if its columns are another version's."""
        opened = self.open(table.name)
        if opened is None or [one.name for one in opened.schema().fields] != table.arrow.names:
            return -1
        return self.done(table.name, app)

    def version(self, name: str) -> int:
        """How many commits the table has; -1 if it does not exist."""
        opened = self.open(name)
        return -1 if opened is None else opened.version()

    def append(self, table: Table, rows: DataFrame, *, app: str, version: int) -> int:
        """Adds rows in one transaction, unless `app` did so up to `version` before."""
        return self._write(table, rows, mode="append", app=app, version=version)

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
        return self._write(table, rows, mode="overwrite", app=app, version=version, also=also)

    def commit(
        self,
        table: Table,
        paths: Iterable[str],
        done: Mapping[str, int],
        *,
        mode: str = "append",
        gone: Sequence[File] = (),
    ) -> int:
        """Commits Parquet files that lie below the table; returns their rows.

        Args:
            table: The table.
            paths: The files that come.
            done: Who commits, and how far it has got with this.
            mode: `append`, or `overwrite` for files that are all there is.
            gone: Files that go.
        """
        added = [self._added(table, path) for path in paths]
        now = int(datetime.now(UTC).timestamp() * 1000)
        removed = [RemoveAction(file.path, True, now) for file in gone]  # noqa: FBT003
        schema = Schema.from_arrow(table.arrow)
        opened = self.open(table.name) or DeltaTable.create(
            f"{self._delta_root}/{table.name}",
            schema,
            name=table.name,
            description=table.about,
            configuration=_configuration(table),
        )
        transactions = [Transaction(app, version) for app, version in done.items()]
        opened.create_write_transaction(
            [*[action for action, _ in added], *removed],
            mode,
            schema,
            commit_properties=CommitProperties(app_transactions=transactions),
        )
        return sum(rows for _, rows in added)

    def make(self, name: str) -> None:
        """Makes the folder of a table, if it is not there."""
        self._disk.create_dir(f"{self._base}/{name}")

    def writer(self, name: str, path: str, schema: pa.Schema) -> pq.ParquetWriter:
        """Writes a Parquet file below a table, to be committed when it is closed."""
        return pq.ParquetWriter(
            f"{self._base}/{name}/{path}",
            schema,
            filesystem=self._disk,
            compression="zstd",
            compression_level=1,
            write_statistics=[column for column in BOUNDED if column in schema.names],
        )

    def written(self, name: str, folder: str) -> list[str]:
        """The Parquet files in a folder of a table, relative to the table."""
        selector = FileSelector(
            f"{self._base}/{name}/{folder}", recursive=True, allow_not_found=True
        )
        found = self._disk.get_file_info(selector)
        parts = [info.path for info in found if info.path.endswith(".parquet")]
        return sorted(path.removeprefix(f"{self._base}/{name}/") for path in parts)

    def folders(self, name: str) -> list[str]:
        """The folders in a folder below the root."""
        return self._root.folders(name)

    def complete(self, name: str) -> bool:
        """Whether Spark finished writing a folder below the root."""
        marker = self._disk.get_file_info(f"{self._base}/{name}/_SUCCESS")
        return bool(marker.type is FileType.File)

    def move(self, source: str, name: str, folder: str) -> None:
        """Brings a folder of Parquet files, below the root, to a folder of a table."""
        for path in self.written(source, ""):
            target = f"{self._base}/{name}/{folder}"
            self._disk.create_dir(target)
            self._disk.move(f"{self._base}/{source}/{path}", f"{target}/{path.rpartition('/')[2]}")

    def remove(self, source: str) -> None:
        """Deletes a folder below the root."""
        self._disk.delete_dir(f"{self._base}/{source}")

    def _write(
        self,
        table: Table,
        rows: DataFrame,
        *,
        mode: str,
        app: str,
        version: int,
        also: Mapping[str, int] | None = None,
    ) -> int:
        overwrites = mode == "overwrite"
        done = self.computed(table, app) if overwrites else self.done(table.name, app)
        if done >= version:
            return 0
        folder = uuid4().hex
        chosen = rows.select([f.col(c.name).cast(c.type).alias(c.name) for c in table.columns])
        chosen.write.option("maxRecordsPerFile", MAX_FILE_RECORDS).parquet(
            f"{self.uri(table.name)}/{folder}"
        )
        paths = self.written(table.name, folder)
        return self.commit(table, paths, {app: version, **(also or {})}, mode=mode)

    def _added(self, table: Table, path: str) -> tuple[AddAction, int]:
        full = f"{self._base}/{table.name}/{path}"
        info = self._disk.get_file_info(full)
        footer = pq.read_metadata(full, filesystem=self._disk)
        stats = json.dumps({"numRecords": footer.num_rows, **_bounds(footer)})
        at_ms = int((info.mtime or datetime.now(UTC)).timestamp() * 1000)
        action = AddAction(path, info.size, {}, at_ms, True, stats)  # noqa: FBT003
        return action, footer.num_rows


@cache
def _parsed(columns: tuple[Column, ...]) -> StructType:
    """Parsed once: Spark's parser takes longer for a wide table than a commit does."""
    ddl = ", ".join(f"`{column.name}` {column.type}" for column in columns)
    return cast("StructType", StructType.fromDDL(ddl))


@cache
def _as_arrow(columns: tuple[Column, ...]) -> pa.Schema:
    schema = to_arrow_schema(_parsed(columns), timezone="UTC")
    return pa.schema([field.with_nullable(True) for field in schema])  # noqa: FBT003


def columns_of(schema: pa.Schema, meanings: dict[str, str]) -> tuple[Column, ...]:
    """Columns declared by an Arrow schema."""
    return tuple(
        Column(field.name, field.dataType.simpleString(), meanings.get(field.name, ""))
        for field in from_arrow_schema(schema)
    )


def _configuration(table: Table) -> dict[str, str]:
    """What is kept in the log of a file's columns, also where somebody else puts files together."""
    kept = [column.name for column in table.columns if column.name in BOUNDED]
    return {"delta.dataSkippingStatsColumns": ",".join(kept)} if kept else {}


def _files(opened: DeltaTable) -> list[File]:
    actions = pa.table(opened.get_add_actions(flatten=True))
    wanted = ("path", "num_records", "size_bytes", "min.slice", "max.slice", "max.captured_at")
    columns = [
        actions.column(name).to_pylist()
        if name in actions.column_names
        else [None] * actions.num_rows
        for name in wanted
    ]
    return [
        File(path, int(rows or 0), int(size), int(first or 0), int(last or 0), latest)
        for path, rows, size, first, last, latest in zip(*columns, strict=True)
    ]


def _bounds(footer: pq.FileMetaData) -> dict[str, dict[str, int | str]]:
    """Least and greatest values of the bounded columns that the file has, for the log."""
    low: dict[str, int | str] = {}
    high: dict[str, int | str] = {}
    names = {footer.schema.column(place).path: place for place in range(footer.num_columns)}
    for name in BOUNDED:
        groups = [footer.row_group(group) for group in range(footer.num_row_groups)]
        known = [group.column(names[name]).statistics for group in groups if name in names]
        if known and all(one is not None and one.has_min_max for one in known):
            low[name] = _logged(min(one.min for one in known))
            high[name] = _logged(max(one.max for one in known))
    return {"minValues": low, "maxValues": high} if low else {}


def _logged(value: int | datetime) -> int | str:
    """As the Delta log writes it: times to the millisecond."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03}Z"
    return value
