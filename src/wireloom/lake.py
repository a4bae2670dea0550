"""Reading the tables without Spark: DuckDB on the file lists of the Delta logs.

It starts in a fraction of a second and only reads: statements other than queries are refused
(a query may hide one in a WITH clause or behind EXPLAIN), all files but those of the tables are
out of reach, no extension is fetched, and what does not fit in memory is not put on disk.

Local files DuckDB opens by itself; those on object storage Arrow reads for it, with the
credentials that the pipeline takes too.
"""

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from wireloom.remote import AnyPath
from wireloom.roots import Root
from wireloom.wire.visible import visible

T = TypeVar("T")
_PORTION: Final = 10_000
_PATTERN: Final = frozenset("*?[")
"""What DuckDB does not take for itself in the name of a file."""

_ONE: Final = "only a query is answered, one at a time: SELECT … or WITH … SELECT …"
_EXPLAIN: Final = re.compile(r"\s*EXPLAIN\s+(ANALYZE\s+)?", re.IGNORECASE)
_READING: Final = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
"""What a query may be made of. DuckDB takes COPY, INSERT and the like in a WITH clause too."""

_ABOUT_QUERIES: Final = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)

_SETTINGS: Final = {
    "TimeZone": "'UTC'",
    "temp_directory": "''",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}
"""In this order: the last ones forbid what the others need."""


class LakeError(ValueError):
    """The tables are not there, or a query cannot be answered."""


class Answer:
    """The rows of a query, taken in portions."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor
        self.columns = [str(column[0]) for column in cursor.description or ()]

    def portions(self) -> Iterator[list[tuple[Any, ...]]]:
        """Some rows at a time.

        Raises:
            LakeError: If the query fails at a later row.
        """
        while portion := _asked(self._cursor, lambda: self._cursor.fetchmany(_PORTION)):
            yield portion

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """One after the other.

        Raises:
            LakeError: If the query fails at a later row.
        """
        for portion in self.portions():
            yield from portion


class Lake:
    """The tables below one root, ready for queries.

    Args:
        place: The folder of the tables, or its URL on object storage.

    Raises:
        LakeError: If there is no table, or the place cannot be reached.
    """

    def __init__(self, place: str | AnyPath) -> None:
        self._db = duckdb.connect(":memory:")
        self._files: list[str] = []
        try:
            root = Root(str(place))
            self.names = [name for name in _names(root) if self._add(root, name)]
        except (OSError, ValueError, DeltaError, duckdb.Error) as error:
            raise LakeError(visible(f"{place} cannot be read: {error}")) from None
        if not self.names:
            shown = visible(str(place))
            raise LakeError(f"{shown} holds no tables. Make them: wireloom pipeline run")
        self._db.execute(f"SET allowed_paths = {_list(self._files)}")
        for name, value in _SETTINGS.items():
            self._db.execute(f"SET {name} = {value}")

    def require(self, *names: str) -> None:
        """Sees to it that tables are there.

        Raises:
            LakeError: If one is not: the pipeline has not come so far.
        """
        if missing := [name for name in names if name not in self.names]:
            raise LakeError(f"no table {', '.join(missing)} yet. Go on: wireloom pipeline run")

    def query(self, sql: str, parameters: list[object] | None = None) -> "Answer":
        """The rows that a query gives.

        Raises:
            LakeError: If it is not a query, or cannot be answered.
        """
        self._check(sql)
        return Answer(_asked(self._db, lambda: self._db.execute(sql, parameters)))

    def arrow(self, sql: str) -> pa.Table:
        """The same as one Arrow table.

        Raises:
            LakeError: As for `query`.
        """
        self._check(sql)
        return _asked(self._db, lambda: self._db.sql(sql).to_arrow_table())

    def rows(self, sql: str, *parameters: object) -> list[dict[str, object]]:
        """The rows that a query gives, as dictionaries."""
        answer = self.query(sql, list(parameters) or None)
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows()]

    def _check(self, sql: str) -> None:
        found = _EXPLAIN.match(sql)
        query = sql[found.end() :] if found else sql
        try:
            kinds = [_kind(statement) for statement in self._db.extract_statements(query)]
            if kinds != ["SELECT"] or not self._only_reads(query):
                raise LakeError(_ONE)
        except duckdb.Error as error:
            raise LakeError(_reason(error)) from None

    def _only_reads(self, query: str) -> bool:
        parsed = self._db.execute("SELECT json_serialize_sql(?::VARCHAR)", [query]).fetchall()
        tree = json.loads(parsed[0][0])
        return not tree["error"] and all(node in _READING for node in _nodes(tree))

    def _add(self, root: Root, name: str) -> bool:
        try:
            table = DeltaTable(f"{root.delta}/{name}", storage_options=root.storage_options)
        except TableNotFoundError:
            return False
        wanted = ", ".join(_name(field.name) for field in table.schema().fields)
        source = self._source(root, name, table)
        self._db.execute(f"CREATE VIEW {_name(name)} AS SELECT {wanted} FROM {source}")  # noqa: S608
        return True

    def _source(self, root: Root, name: str, table: DeltaTable) -> str:
        """What a table's rows come from, in SQL."""
        files = _files(root, name, table)
        if files and not root.remote and _PATTERN.isdisjoint("".join(files)):
            self._files += files
            return f"read_parquet({_list(files)}, hive_partitioning = false, union_by_name = true)"
        schema = pa.schema(table.schema().to_arrow())
        found = ds.dataset(files, schema=schema, format="parquet", filesystem=root.disk)
        self._db.register(f"{name} files", found if files else schema.empty_table())
        return _name(f"{name} files")


def _files(root: Root, name: str, table: DeltaTable) -> list[str]:
    actions = pa.table(table.get_add_actions(flatten=True))
    return [f"{root.base}/{name}/{path}" for path in actions.column("path").to_pylist()]


def _asked(db: duckdb.DuckDBPyConnection, ask: Callable[[], T]) -> T:
    """What DuckDB answers. It looks for no signal meanwhile, so this thread does, for Ctrl-C.

    Raises:
        LakeError: If it gives no answer.
    """
    with ThreadPoolExecutor(1) as beside:
        answer = beside.submit(ask)
        try:
            return answer.result()
        except duckdb.Error as error:
            raise LakeError(_reason(error)) from None
        except KeyboardInterrupt:
            db.interrupt()
            raise


def _kind(statement: duckdb.Statement) -> str:
    try:
        return statement.type.name
    except ValueError:  # the binding does not know all kinds
        return "unknown"


def _reason(error: duckdb.Error) -> str:
    """Why a query fails and where; a text that may quote data is put on one line."""
    about, mark, where = str(error).rpartition("\n\nLINE ")
    if isinstance(error, _ABOUT_QUERIES):
        return about + mark + where
    return visible(about or where)


def _names(root: Root) -> list[str]:
    return [name for name in root.folders() if "_delta_log" in root.folders(name)]


def _name(text: str) -> str:
    """A name in SQL. Folders and columns may be called anything."""
    return '"' + text.replace('"', '""') + '"'


def _list(texts: list[str]) -> str:
    """A list of texts in SQL."""
    return "[" + ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + "]"


def _nodes(tree: Any) -> Iterator[str]:
    """What the parts of a parsed query are: all that it reads from or does."""
    if isinstance(tree, dict):
        kind = tree.get("type")
        if isinstance(kind, str) and kind.endswith("_NODE"):
            yield kind
    for part in tree.values() if isinstance(tree, dict) else tree:
        if isinstance(part, dict | list):
            yield from _nodes(part)
