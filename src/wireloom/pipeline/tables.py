"""Delta tables: Spark writes Parquet, delta-rs commits it in one transaction.

A commit carries an application transaction (who, up to which version). A commit that was
made already is recognised by it and skipped, so a repeated batch changes nothing, and a
reader sees whole batches only. Files of a commit that never happened are left for `vacuum`.

Roots are local folders or any location that both Spark and delta-rs can reach.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple, cast
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

MAX_FILE_RECORDS: Final = 2_000_000


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
        ddl = ", ".join(f"`{column.name}` {column.type}" for column in self.columns)
        return cast("StructType", StructType.fromDDL(ddl))


class Store:
    """The tables below one root."""

    def __init__(self, root: str | Path) -> None:
        self.root = str(root).rstrip("/")

    def uri(self, name: str) -> str:
        """Where a table lies."""
        return f"{self.root}/{name}"

    def open(self, name: str) -> DeltaTable | None:
        """The table, if it exists."""
        try:
            return DeltaTable(self.uri(name))
        except TableNotFoundError:
            return None

    def read(self, spark: SparkSession, table: Table) -> DataFrame:
        """All rows of a table; none if it does not exist yet."""
        opened = self.open(table.name)
        files = opened.file_uris() if opened is not None else []
        if not files:
            return spark.createDataFrame([], table.schema)
        return spark.read.schema(table.schema).parquet(*files)

    def done(self, name: str, app: str) -> int:
        """Up to which version `app` has committed; -1 if never."""
        opened = self.open(name)
        version = opened.transaction_version(app) if opened is not None else None
        return -1 if version is None else version

    def version(self, name: str) -> int:
        """How many commits the table has; -1 if it does not exist."""
        opened = self.open(name)
        return -1 if opened is None else opened.version()

    def append(self, table: Table, rows: DataFrame, *, app: str, version: int) -> int:
        """Adds rows in one transaction, unless `app` did so up to `version` before."""
        return self._write(table, rows, mode="append", app=app, version=version)

    def replace(self, table: Table, rows: DataFrame, *, app: str, version: int) -> int:
        """Makes `rows` all there is, in one transaction, with the same guard."""
        return self._write(table, rows, mode="overwrite", app=app, version=version)

    def commit(
        self, table: Table, paths: Iterable[str], *, mode: str, app: str, version: int
    ) -> int:
        """Commits Parquet files that lie below the table's root; returns their rows."""
        actions: list[AddAction | RemoveAction] = []
        rows = 0
        for path in paths:
            action, count = _add_action(self.uri(table.name), path)
            actions.append(action)
            rows += count
        schema = Schema.from_arrow(_nullable(to_arrow_schema(table.schema, timezone="UTC")))
        opened = self.open(table.name) or DeltaTable.create(
            self.uri(table.name), schema, name=table.name, description=table.about
        )
        opened.create_write_transaction(
            actions,
            mode,
            schema,
            commit_properties=CommitProperties(app_transactions=[Transaction(app, version)]),
        )
        return rows

    def _write(self, table: Table, rows: DataFrame, *, mode: str, app: str, version: int) -> int:
        if self.done(table.name, app) >= version:
            return 0
        folder = uuid4().hex
        chosen = rows.select([f.col(c.name).cast(c.type).alias(c.name) for c in table.columns])
        chosen.write.option("maxRecordsPerFile", MAX_FILE_RECORDS).parquet(
            f"{self.uri(table.name)}/{folder}"
        )
        paths = parquet_files(self.uri(table.name), folder)
        return self.commit(table, paths, mode=mode, app=app, version=version)


def parquet_files(root: str, folder: str) -> list[str]:
    """The Parquet files below `folder`, relative to `root`."""
    base = Path(root)
    return sorted(str(path.relative_to(base)) for path in (base / folder).rglob("*.parquet"))


def _add_action(root: str, path: str) -> tuple[AddAction, int]:
    full = Path(root) / path
    status = full.stat()
    rows = pq.read_metadata(full).num_rows
    stats = json.dumps({"numRecords": rows})
    action = AddAction(path, status.st_size, {}, int(status.st_mtime * 1000), True, stats)  # noqa: FBT003
    return action, rows


def _nullable(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_nullable(True) for field in schema])  # noqa: FBT003


def columns_of(schema: pa.Schema, meanings: dict[str, str]) -> tuple[Column, ...]:
    """Columns declared by an Arrow schema."""
    return tuple(
        Column(field.name, field.dataType.simpleString(), meanings.get(field.name, ""))
        for field in from_arrow_schema(schema)
    )
