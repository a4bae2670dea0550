"""`wireloom report`: the books, the times, the top reasons, and how things are doing."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from wireloom.cli.data import data_option
from wireloom.cli.misuse import MisuseError
from wireloom.cli.sql import plain
from wireloom.cli.tables import answering, lake, tables_option
from wireloom.cli.terminal import Cell, Grid, console, line
from wireloom.remote import AnyPath
from wireloom.report.books import MAX_REASONS, STATES, TIMES, gather, tally
from wireloom.report.times import instant, spoken
from wireloom.wire.visible import visible_json

Row = Mapping[str, Any]


@click.command("report")
@data_option
@tables_option
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a page with charts that needs nothing else.",
)
def command(data: AnyPath, root: str | None, *, as_json: bool, html: Path | None) -> None:
    """Tell what happened to every message."""
    if html is not None and not html.absolute().parent.is_dir():
        raise MisuseError(f"{html.parent} is no folder. Make it first, or name another.")
    from wireloom.report.examples import examples
    from wireloom.report.page import page

    with answering():
        asked = lake(data, root)
        found = gather(asked)
        made = None if html is None else page(found, examples(asked, found))
    if html is not None and made is not None:
        _write(html, made)
        click.echo(f"wrote {html}", err=as_json)
    if as_json:
        click.echo(visible_json(json.dumps(plain(found), ensure_ascii=False)))
    elif html is None:
        draw(console(), found)


def _write(html: Path, made: str) -> None:
    try:
        html.write_text(made, encoding="utf-8")
    except OSError as error:
        raise MisuseError(f"{html} cannot be written: {error.strerror}.") from None


def draw(shown: Console, found: Row) -> None:
    """Draws the report for a terminal."""
    for text in _head(found["captured"]):
        shown.print(line(text), soft_wrap=True)
    for title, grid in (
        ("The books", _books(found["books"])),
        ("Time to delivery", _latency(found["latency"])),
        ("Top reasons", _reasons(found["reasons"])),
    ):
        shown.print()
        grid.draw(shown, title=title)
    if len(found["reasons"]) > MAX_REASONS:
        more = f"and {len(found['reasons']) - MAX_REASONS:,} more: --json"
        shown.print(line(Cell(more, "dim")), soft_wrap=True)
    shown.print()
    shown.print(line(Cell("Health", "bold")))
    for text in _health(found["health"]):
        shown.print(line(text), soft_wrap=True)


def _head(captured: Row) -> Iterator[str]:
    yield (
        f"{captured['captured']:,} frames captured = {captured['frames']:,} decoded + "
        f"{captured['quarantine']:,} in quarantine"
    )
    if captured["captured"]:
        yield f"from {instant(captured['first_at'])} to {instant(captured['horizon'])}"


def _books(books: Mapping[str, Mapping[str, int]]) -> Grid:
    states = [state.replace("_", " ") for state in STATES]
    grid = Grid("protocol", "sent =", *states, right=("sent =", *states))
    for name, entry in books.items():
        balanced = entry["sent"] == sum(entry[state] for state in STATES)
        sent = Cell(f"{entry['sent']:,} {'=' if balanced else '≠'}", "" if balanced else "bold red")
        grid.add(name, sent, *[f"{entry[state]:,}" for state in STATES])
    return grid


def _latency(latency: Mapping[str, Row]) -> Grid:
    numbers = ("delivered", "p50", "p90", "p99", "skewed clocks")
    grid = Grid("protocol", *numbers, right=numbers)
    for name, row in latency.items():
        times = ["–" if row[key] is None else spoken(row[key]) for key in TIMES]
        grid.add(name, f"{row['delivered']:,}", *times, f"{row['skewed']:,}")
    return grid


def _reasons(reasons: Sequence[Row]) -> Grid:
    grid = Grid("protocol", "what", "reason", "count", right=("count",))
    for row in reasons[:MAX_REASONS]:
        grid.add(*[str(row[key]) for key in ("protocol", "what", "reason")], f"{row['n']:,}")
    return grid


def _health(health: Row) -> Iterator[str]:
    for row in health["swarms"]:
        yield f"swarm {row['swarm']}: {row['messages']:,} messages, {row['status']}"
    yield f"ledger: {tally(health['ledger'])}"
    yield f"hub asks: {tally(health['hub_asks'])}"
