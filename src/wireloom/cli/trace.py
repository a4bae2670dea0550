"""`wireloom trace`: the whole life of one message."""

from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wireloom.cli.data import data_option, tables
from wireloom.lake import Lake, LakeError
from wireloom.report.trace import Life, trace

_ARROWS: Final = {"in": "→", "out": "←", "local": "●"}
_COLOURS: Final = {
    "delivered": "green",
    "cancelled": "yellow",
    "rejected": "red",
    "expired": "yellow",
    "in_flight": "cyan",
    "lost": "red",
}


@click.command("trace")
@click.argument("id_", metavar="ID")
@data_option
def command(id_: str, data: Path) -> None:
    """Show the life of the message with ID (or a beginning of it), hop by hop."""
    try:
        life = trace(Lake(tables(data).absolute()), id_)
    except LakeError as error:
        raise click.ClickException(str(error)) from None
    console = Console()
    console.print(f"[bold]{life.protocol} {escape(str(life.message['type']))}[/] {life.message_id}")
    if life.message["conflict"]:
        console.print("[bold red]one id, several contents[/]")
    for fate in life.fates:
        console.print(_fate(fate))
    console.print(_timeline(life))


def _fate(fate: dict[str, Any]) -> str:
    to = f"to {fate['destination']}" if fate["destination"] is not None else "to all"
    state = f"[{_COLOURS[fate['state']]}]{fate['state']}[/]"
    why = f" ({fate['reason']})" if fate["reason"] else ""
    proof = (
        f", by {fate['evidence_kind']} {fate['evidence_frame']}" if fate["evidence_frame"] else ""
    )
    late = f" after {fate['latency_ms']:,} ms" if fate["latency_ms"] is not None else ""
    return f"  {to}: {state}{why}{late}{escape(proof)}; deadline {fate['deadline']}"


def _timeline(life: Life) -> Table:
    table = Table("after", "node", "", "peer", "link", "message", "auth", "outcome", box=None)
    begin: datetime | None = None
    for step in life.steps:
        begin = begin or step["captured_at"]
        after = (step["captured_at"] - begin).total_seconds() * 1000
        outcome = " ".join(str(step[key]) for key in ("outcome", "outcome_reason") if step[key])
        table.add_row(
            f"{after:+,.1f} ms",
            step["node"],
            _ARROWS.get(step["direction"], "?"),
            step["peer"] or "",
            step["link"],
            escape(str(step["type"])) if step["own"] else f"[dim]{escape(str(step['type']))}[/]",
            step["auth"],
            outcome,
        )
    return table
