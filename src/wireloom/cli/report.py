"""`wireloom report`: the books, delivery and latency, the top reasons."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from wireloom.cli.data import data_option, tables
from wireloom.cli.sql import plain
from wireloom.lake import Lake, LakeError
from wireloom.report.books import STATES, gather
from wireloom.report.page import page


@click.command("report")
@data_option
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a page with charts that needs nothing else.",
)
def command(data: Path, *, as_json: bool, html: Path | None) -> None:
    """Tell what happened to every message."""
    try:
        found = gather(Lake(tables(data).absolute()))
    except LakeError as error:
        raise click.ClickException(str(error)) from None
    if html is not None:
        html.write_text(page(found))
        click.echo(f"wrote {html}")
        return
    if as_json:
        click.echo(json.dumps(plain(found), ensure_ascii=False))
        return
    console = Console()
    _head(console, found["captured"])
    console.print(_books(found["books"]))
    console.print(_latency(found["latency"]))
    console.print(_reasons(found["reasons"]))


def _head(console: Console, captured: dict[str, Any]) -> None:
    console.print(
        f"{captured['captured']:,} frames captured = {captured['frames']:,} decoded + "
        f"{captured['quarantine']:,} in quarantine"
    )
    console.print(f"from {captured['first_at']} to {captured['horizon']}\n")


def _books(books: dict[str, dict[str, int]]) -> Table:
    table = Table("protocol", "sent", "=", *STATES, title="The books", title_justify="left")
    for name, entry in books.items():
        balanced = entry["sent"] == sum(entry[state] for state in STATES)
        numbers = [f"{entry[state]:,}" for state in STATES]
        table.add_row(name, f"{entry['sent']:,}", "=" if balanced else "[bold red]≠[/]", *numbers)
    return table


def _latency(latency: dict[str, dict[str, Any]]) -> Table:
    table = Table("protocol", "delivered", "p50 ms", "p90 ms", "p99 ms", "skewed clocks",
                  title="Time to delivery", title_justify="left")  # fmt: skip
    for name, row in latency.items():
        times = [f"{row[key]:,.0f}" for key in ("p50_ms", "p90_ms", "p99_ms")]
        table.add_row(name, f"{row['delivered']:,}", *times, f"{row['skewed']:,}")
    return table


def _reasons(reasons: list[dict[str, Any]]) -> Table:
    table = Table("protocol", "what", "reason", "count", title="Top reasons", title_justify="left")
    for row in reasons[:15]:
        table.add_row(row["protocol"], row["what"], row["reason"], f"{row['n']:,}")
    return table
