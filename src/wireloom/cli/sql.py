"""`wireloom sql`: read-only queries over the tables, without Spark."""

import csv
import json
import re
import sys
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console

from wireloom.cli.data import data_option
from wireloom.cli.tables import answering, lake, tables_option
from wireloom.cli.terminal import Grid, console, line
from wireloom.remote import AnyPath
from wireloom.wire.visible import visible, visible_json

if TYPE_CHECKING:
    import pyarrow as pa

    from wireloom.lake import Answer

RUN: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How a cell begins that a spreadsheet takes for a formula."""

PLAN: Final = ["explain_key", "explain_value"]
"""The columns of what EXPLAIN answers: text of several lines."""

_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


@click.command("sql")
@click.argument("query")
@data_option
@tables_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "parquet"]),
    default="table",
    show_default=True,
    help="How to print: json is one object a line.",
)
def command(query: str, data: AnyPath, root: str | None, form: str) -> None:
    """Answer QUERY, in SQL, from the tables. `wireloom sql "show tables"` lists them."""
    with answering():
        asked = lake(data, root)
        if query.strip().rstrip(";").lower() == "show tables":
            query = "SELECT unnest(" + str(asked.names) + ") AS name"
        if form == "parquet":
            if sys.stdout.isatty():
                raise click.UsageError("parquet is for a file: add > rows.parquet")
            _write_parquet(asked.arrow(query))
        else:
            _PRINT[form](asked.query(query))


def _write_parquet(table: "pa.Table") -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, sys.stdout.buffer)


def plain(value: Any) -> Any:
    """A value as JSON has it: instants in ISO 8601, bytes in hex, decimals as integers."""
    match value:
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case None | bool() | int() | float():
            return value
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value.hex() if isinstance(value, bytes) else str(value)


def _print_table(answer: "Answer") -> None:
    """A long answer is a table for each portion of it, so that it need not fit in memory."""
    shown = console()
    empty = True
    for rows in answer.portions():
        empty = False
        if answer.columns == PLAN:
            _print_plans(shown, rows)
        else:
            _grid(answer.columns, rows).draw(shown)
    if empty:
        _grid(answer.columns, []).draw(shown)
        shown.print("no rows")


def _grid(columns: list[str], rows: list[tuple[Any, ...]]) -> Grid:
    numbers = [
        name for place, name in enumerate(columns) if any(_is_number(row[place]) for row in rows)
    ]
    grid = Grid(*columns, right=numbers)
    for row in rows:
        grid.add(*map(text, row))
    return grid


def _print_plans(shown: Console, rows: list[tuple[Any, ...]]) -> None:
    for _, plan in rows:
        for part in str(plan).splitlines():
            shown.print(line(part), soft_wrap=True)


def _print_json(answer: "Answer") -> None:
    for row in answer.rows():
        shown = {name: plain(value) for name, value in zip(answer.columns, row, strict=True)}
        click.echo(visible_json(json.dumps(shown, ensure_ascii=False)))


def _print_csv(answer: "Answer") -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(map(defused, answer.columns))
    for row in answer.rows():
        writer.writerow([_csv(value) for value in row])


def text(value: Any) -> str:
    """A value for a person: lists and structs as JSON."""
    value = plain(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def defused(cell: str) -> str:
    """A cell of a CSV file that no spreadsheet runs, and no terminal obeys."""
    shown = visible(cell)
    harmless = not cell.startswith(RUN) or _NUMBER.fullmatch(cell)
    return shown if harmless else f"'{shown}"


def _csv(value: Any) -> Any:
    return plain(value) if _is_number(value) else defused(text(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


_PRINT = {"table": _print_table, "json": _print_json, "csv": _print_csv}
