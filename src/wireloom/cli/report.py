"""`wireloom report`: the books, delivery and latency, the top reasons."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from wireloom.cli.data import data_option
from wireloom.cli.sql import plain
from wireloom.cli.tables import lake, tables_option
from wireloom.lake import LakeError
from wireloom.report.books import STATES, gather
from wireloom.report.page import page


@click.command("report")
@data_option
@tables_option
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a page with charts that needs nothing else.",
)
def command(data: Path, root: str | None, *, as_json: bool, html: Path | None) -> None:
    """Tell what happened to every message."""
    try:
        found = gather(lake(data, root))
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
    console.print(_health(found["health"]))


def _head(console: Console, captured: dict[str, Any]) -> None:
    console.print(
        f"{captured['captured']:,} frames captured = {captured['frames']:,} decoded + "
        f"{captured['quarantine']:,} in quarantine"
    )
    console.print(f"from {captured['first_at']} to {captured['horizon']}\n")


def _books(books: dict[str, dict[str, int]]) -> Table:
    table = _table("The books", "protocol", "sent", "", *STATES)
    for name, entry in books.items():
        balanced = entry["sent"] == sum(entry[state] for state in STATES)
        numbers = [f"{entry[state]:,}" for state in STATES]
        table.add_row(name, f"{entry['sent']:,}", "=" if balanced else "[bold red]≠[/]", *numbers)
    return table


def _latency(latency: dict[str, dict[str, Any]]) -> Table:
    table = _table(
        "Time to delivery, ms", "protocol", "delivered", "p50", "p90", "p99", "skewed clocks"
    )
    for name, row in latency.items():
        times = [_number(row[key]) for key in ("p50_ms", "p90_ms", "p99_ms")]
        table.add_row(name, f"{row['delivered']:,}", *times, f"{row['skewed']:,}")
    return table


def _reasons(reasons: list[dict[str, Any]]) -> Table:
    table = _table("Top reasons", "protocol", "what", "reason", "count")
    for row in reasons[:15]:
        table.add_row(row["protocol"], row["what"], row["reason"], f"{row['n']:,}")
    return table


def _health(health: dict[str, Any]) -> str:
    lines = ["", "Health"]
    lines += [
        f"swarm {row['swarm']}: {row['messages']:,} messages, {row['status']}"
        for row in health["swarms"]
    ]
    for title, key in (("ledger", "ledger"), ("hub asks", "hub_asks")):
        counts = ", ".join(f"{count:,} {name}" for name, count in health[key].items())
        lines.append(f"{title}: {counts or 'none'}")
    return "\n".join(lines)


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(title=f"\n{title}", title_justify="left", box=None, padding=(0, 1, 0, 0))
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, no_wrap=True, justify="right")
    return table


def _number(value: float | None) -> str:
    """A time; a protocol whose messages do not say when they were made has none."""
    return "–" if value is None else f"{value:,.0f}"
