"""`wireloom sql`: read-only queries over the tables, without Spark."""

import csv
import json
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from wireloom.cli.data import data_option, tables
from wireloom.lake import Answer, Lake, LakeError


@click.command("sql")
@click.argument("query")
@data_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "parquet"]),
    default="table",
    show_default=True,
    help="How to print: json is one object a line.",
)
def command(query: str, data: Path, form: str) -> None:
    """Answer QUERY, in SQL, from the tables. `wireloom sql "show tables"` lists them."""
    try:
        lake = Lake(tables(data).absolute())
        if query.strip().rstrip(";").lower() == "show tables":
            query = "SELECT unnest(" + str(lake.names) + ") AS name"
        if form == "parquet":
            pq.write_table(lake.arrow(query), sys.stdout.buffer)
        else:
            _PRINT[form](lake.query(query))
    except LakeError as error:
        raise click.ClickException(str(error)) from None


def plain(value: Any) -> Any:
    """A value as JSON has it: instants in ISO 8601, bytes in hex, decimals as integers."""
    match value:
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case bytes():
            return value.hex()
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
    return value


def _print_table(answer: Answer) -> None:
    table = Table(*answer.columns)
    for row in answer.rows():
        table.add_row(*["" if value is None else str(plain(value)) for value in row])
    Console().print(table)


def _print_json(answer: Answer) -> None:
    for row in answer.rows():
        line = {name: plain(value) for name, value in zip(answer.columns, row, strict=True)}
        click.echo(json.dumps(line, ensure_ascii=False))


def _print_csv(answer: Answer) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.columns)
    for row in answer.rows():
        writer.writerow(["" if value is None else plain(value) for value in row])


_PRINT = {"table": _print_table, "json": _print_json, "csv": _print_csv}
