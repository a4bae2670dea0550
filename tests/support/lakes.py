"""Tables written without Spark, with the columns that the pipeline declares."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa

from wireloom.pipeline.catalogue import all_tables
from wireloom.pipeline.tables import Table
from wireloom.pipeline.types import arrow_type

AT = datetime(2026, 1, 1, 6, tzinfo=UTC)
HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07[bold red]m[/]\u202e\x9b31m<script>alert(1)</script>\r\n=cmd|'x'!A1"
)
"""Text that clears a terminal, renames it, colours it, turns it round, or runs on a page."""


def write(root: Path, **tables: list[dict[str, Any]]) -> Path:
    """All tables there are, with the rows that are given; gives the root."""
    for table in all_tables():
        schema = _schema(table)
        rows = [
            {field.name: row.get(field.name) for field in schema}
            for row in tables.get(table.name, [])
        ]
        deltalake.write_deltalake(
            str(root / table.name), pa.Table.from_pylist(rows, schema=schema), mode="overwrite"
        )
    return root


def write_hostile(root: Path, **fixed: Any) -> Path:
    """All tables with one row each, hostile in every text of every column but the `fixed` ones."""
    tables = {}
    for table in all_tables():
        schema = _schema(table)
        row = {field.name: fixed.get(field.name, _hostile(field.type)) for field in schema}
        tables[table.name] = [row]
    return write(root, **tables)


def _hostile(type_: pa.DataType) -> Any:
    if pa.types.is_struct(type_):
        return {field.name: _hostile(field.type) for field in type_}
    if pa.types.is_map(type_):
        return [(HOSTILE, _hostile(type_.item_type))]
    if pa.types.is_list(type_):
        return [_hostile(type_.value_type)]
    if pa.types.is_timestamp(type_):
        return AT
    if pa.types.is_decimal(type_):
        return Decimal(7)
    if pa.types.is_binary(type_):
        return HOSTILE.encode()
    return {"string": HOSTILE, "bool": True, "double": 7.0}.get(str(type_), 7)


def _schema(table: Table) -> pa.Schema:
    return pa.schema([(column.name, arrow_type(column.type)) for column in table.columns])
