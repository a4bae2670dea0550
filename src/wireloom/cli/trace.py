"""`wireloom trace`: the whole life of one message."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console

from wireloom.cli.data import data_option
from wireloom.cli.tables import answering, lake, tables_option
from wireloom.cli.terminal import Cell, Grid, Words, console, line
from wireloom.report.books import STATES
from wireloom.report.times import after, exact, spoken
from wireloom.report.trace import Life, trace

MAX_FATES: Final = 12
MAX_STEPS: Final = 40
"""What is shown at first; `--all` shows the rest."""

PROOF: Final = "▸"
SEEN: Final = {"local": "made", "out": "left", "in": "came"}
COLOURS: Final = {
    "delivered": "green",
    "expired": "yellow",
    "rejected": "red",
    "cancelled": "yellow",
    "in_flight": "cyan",
    "lost": "red",
}

Row = dict[str, Any]


@click.command("trace")
@click.argument("id_", metavar="ID")
@data_option
@tables_option
@click.option("--all", "whole", is_flag=True, help="Every destination and every sighting.")
def command(id_: str, data: Path, root: str | None, *, whole: bool) -> None:
    """Show the life of the message with ID (or a beginning of it), hop by hop."""
    with answering():
        life = trace(lake(data, root), id_)
    draw(console(), life, whole=whole)


def draw(shown: Console, life: Life, *, whole: bool) -> None:
    """Draws a message's life: what it is, what became of it, and how that came about."""
    fates = life.fates if whole else life.fates[:MAX_FATES]
    for text in (*_head(life), *_fates(life, fates)):
        shown.print(text, soft_wrap=True)
    shown.print()
    proofs = {fate["evidence_frame"] for fate in fates}
    _draw_steps(shown, life, proofs, whole=whole)
    if proofs & {step["sighting"] for step in life.steps}:
        shown.print(line(Cell(f"{PROOF} proves what became of it", "dim")))


def _head(life: Life) -> Iterator[Any]:
    application = life.application_type
    more = f" ({application})" if application and application != life.message["type"] else ""
    yield line(Cell(f"{life.protocol} {life.message['type']}{more}", "bold"), f" {life.message_id}")
    if life.message["conflict"]:
        yield line(Cell("one id, several contents", "bold red"))
    if life.message["source"] is not None:
        yield line(f"  from {_who(life, life.message['source'])}")
    sent = f"  first seen {exact(life.message['first_seen'])}"
    deadlines = {fate["deadline"] for fate in life.fates} - {None}
    if len(deadlines) == 1:
        left: timedelta = deadlines.pop() - life.message["first_seen"]
        sent += f", deadline {after(left / timedelta(milliseconds=1))}"
    yield line(sent)


def _fates(life: Life, fates: Sequence[Row]) -> Iterator[Any]:
    if not life.fates:
        yield line("  nobody meant it to be delivered, so it has no fate")
    if len(life.fates) > 1:
        states = Counter(str(fate["state"]) for fate in life.fates)
        known = [*STATES, *sorted(set(states) - set(STATES))]
        said = ", ".join(f"{states[one]:,} {_words(one)}" for one in known if states[one])
        yield line(f"  {len(life.fates):,} destinations: {said}")
    for fate in fates:
        to = "all" if fate["destination"] is None else _who(life, fate["destination"])
        yield line(f"  to {to}")
        yield line("    ", *_fate(fate))
    if len(life.fates) > len(fates):
        yield line(Cell(f"  and {len(life.fates) - len(fates):,} more: --all", "dim"))


def _fate(fate: Row) -> Iterator[Words]:
    yield Cell(_words(fate["state"]), COLOURS.get(fate["state"], ""))
    yield f" ({fate['reason']})" if fate["reason"] else ""
    yield f" after {spoken(fate['latency_ms'])}" if fate["latency_ms"] is not None else ""
    if fate["skew_ms"]:
        yield f", by clocks that differ by {spoken(fate['skew_ms'])} or more"
    if fate["evidence_frame"]:
        kind = "a node's word" if fate["evidence_kind"] == "witness" else "a frame"
        yield f", proven by {kind}, {PROOF} {fate['evidence_frame']}"


def _draw_steps(shown: Console, life: Life, proofs: set[Any], *, whole: bool) -> None:
    grid = Grid("", "after", "seen", "way", "link", "message", "auth", "outcome", right={"after"})
    rows = [_step(life, step, proofs) for step in life.steps]
    kept = [
        place
        for place, step in enumerate(life.steps)
        if whole or place < MAX_STEPS or step["sighting"] in proofs
    ]
    last = -1
    for place in [*kept, len(rows)]:
        if place - last > 1:
            more = Cell(f"and {place - last - 1:,} more: --all", "dim")
            grid.add("", "", "", more, *[""] * 4)
        if place < len(rows):
            grid.add(*rows[place])
        last = place
    grid.draw(shown, folds_at=4)


def _step(life: Life, step: Row, proofs: set[Any]) -> list[Words]:
    begin: datetime = life.steps[0]["captured_at"]
    passed = (step["captured_at"] - begin) / timedelta(milliseconds=1)
    outcome = " ".join(str(step[key]) for key in ("outcome", "outcome_reason") if step[key])
    return [
        Cell(PROOF, "bold") if step["sighting"] in proofs else "",
        after(passed),
        SEEN.get(step["direction"], "?"),
        _way(life, step),
        str(step["link"] or ""),
        Cell(str(step["type"]), "" if step["own"] else "dim"),
        str(step["auth"]),
        Cell(outcome, "red" if step["outcome"] == "rejected" else ""),
    ]


def _way(life: Life, step: Row) -> str:
    """From whom to whom a frame went, or where it was made."""
    node, peer = str(step["node"]), step["peer"]
    if peer is not None:
        peer = life.names.get(peer, str(peer))
    if step["direction"] == "in":
        return f"{peer or '?'} → {node}"
    return f"{node} → {peer or 'all'}" if step["direction"] == "out" else node


def _who(life: Life, identity: str) -> str:
    """An identity, with its node's name before it where that is known."""
    name = life.names.get(identity)
    return f"{name} {identity}" if name not in (None, identity) else str(identity)


def _words(state: str) -> str:
    return str(state).replace("_", " ")
