"""Reading the tables without Spark: DuckDB on the file lists of the Delta logs.

It starts in a fraction of a second and only reads: statements other than queries are refused,
and files outside the tables are out of reach.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

_ALLOWED: Final = frozenset({"SELECT", "EXPLAIN"})
_PORTION: Final = 10_000


class LakeError(ValueError):
    """The tables are not there, or a query cannot be answered."""


class Answer:
    """The rows of a query, taken in portions."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor
        self.columns = [str(column[0]) for column in cursor.description or ()]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """One after the other."""
        while portion := self._cursor.fetchmany(_PORTION):
            yield from portion


class Lake:
    """The tables below one root, ready for queries.

    Args:
        root: The folder of the tables.

    Raises:
        LakeError: If there is no table.
    """

    def __init__(self, root: Path) -> None:
        self._db = duckdb.connect(":memory:")
        self.names = [name for name in _names(root) if self._add(root, name)]
        if not self.names:
            raise LakeError(f"{root} holds no tables. Make them: wireloom pipeline run")
        self._db.execute("SET TimeZone = 'UTC'")
        self._db.execute(f"SET allowed_directories = ['{_quoted(str(root))}']")
        self._db.execute("SET enable_external_access = false")
        self._db.execute("SET lock_configuration = true")

    def query(self, sql: str, parameters: list[object] | None = None) -> "Answer":
        """The rows that a query gives.

        Raises:
            LakeError: If it is not a query, or cannot be answered.
        """
        self._check(sql)
        try:
            return Answer(self._db.execute(sql, parameters))
        except duckdb.Error as error:
            raise LakeError(str(error)) from None

    def arrow(self, sql: str) -> pa.Table:
        """The same as one Arrow table.

        Raises:
            LakeError: As for `query`.
        """
        self._check(sql)
        try:
            return self._db.sql(sql).to_arrow_table()
        except duckdb.Error as error:
            raise LakeError(str(error)) from None

    def rows(self, sql: str, *parameters: object) -> list[dict[str, object]]:
        """The rows that a query gives, as dictionaries."""
        answer = self.query(sql, list(parameters) or None)
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows()]

    def _check(self, sql: str) -> None:
        try:
            statements = self._db.extract_statements(sql)
        except duckdb.Error as error:
            raise LakeError(str(error)) from None
        if len(statements) != 1 or statements[0].type.name not in _ALLOWED:
            raise LakeError("only one query at a time: SELECT … or WITH … SELECT …")

    def _add(self, root: Path, name: str) -> bool:
        try:
            table = DeltaTable(str(root / name))
        except TableNotFoundError:
            return False
        files = ", ".join(f"'{_quoted(uri)}'" for uri in table.file_uris())
        if files:
            source = f"read_parquet([{files}], hive_partitioning = false, union_by_name = true)"
        else:
            columns = ", ".join(f'NULL AS "{field.name}"' for field in table.schema().fields)
            source = f"(SELECT {columns} WHERE false)"
        wanted = ", ".join(f'"{field.name}"' for field in table.schema().fields)
        self._db.execute(f'CREATE VIEW "{name}" AS SELECT {wanted} FROM {source}')  # noqa: S608
        return True


def _names(root: Path) -> list[str]:
    if not root.is_dir():
        return []
    return sorted(path.name for path in root.iterdir() if (path / "_delta_log").is_dir())


def _quoted(text: str) -> str:
    return text.replace("'", "''")
