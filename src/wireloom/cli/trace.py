"""`wireloom trace`: the whole life of one message."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.text import Text

from wireloom.cli.data import data_option
from wireloom.cli.tables import answering, lake, tables_option
from wireloom.cli.terminal import Cell, Grid, Words, console, line, show
from wireloom.remote import AnyPath
from wireloom.report.books import STATES
from wireloom.report.times import after, exact, spoken
from wireloom.wire.outcome import Fate

if TYPE_CHECKING:
    from wireloom.report.trace import Life

MAX_FATES: Final = 12
MAX_STEPS: Final = 40
"""What is shown at first; `--all` shows the rest."""

PROOF: Final = "▸"
SEEN: Final = {"local": "made", "out": "left", "in": "came"}
ENDS: Final = ("expired", "cancelled")
"""Outcomes of a message that lies where it was made, or waits for its turn."""

LONG_MS: Final = 1_000
COLOURS: Final = {
    Fate.DELIVERED: "green",
    Fate.EXPIRED: "yellow",
    Fate.REJECTED: "red",
    Fate.CANCELLED: "yellow",
    Fate.IN_FLIGHT: "cyan",
    Fate.LOST: "red",
}

Row = dict[str, Any]


@click.command("trace")
@click.argument("id_", metavar="ID")
@data_option
@tables_option
@click.option("--all", "whole", is_flag=True, help="Every destination and every sighting.")
def command(id_: str, data: AnyPath, root: str | None, *, whole: bool) -> None:
    """Show the life of the message with ID (or a beginning of it), hop by hop."""
    from wireloom.report.trace import trace

    with answering():
        life = trace(lake(data, root), id_)
    draw(console(), life, whole=whole)


def draw(shown: Console, life: "Life", *, whole: bool) -> None:
    """Draws a message's life: what it is, what became of it, and how that came about."""
    fates = life.fates if whole else life.fates[:MAX_FATES]
    for parts in (*_head(life), *_fates(life, fates)):
        show(shown, *parts)
    shown.print()
    proofs = {fate["evidence_frame"] for fate in fates}
    _draw_steps(shown, life, proofs, whole=whole)
    if proofs & {step["sighting"] for step in life.steps}:
        show(shown, line(Cell(f"{PROOF} proves what became of it", "dim")))


def _head(life: "Life") -> Iterator[list[Text]]:
    kind, inner = str(life.message["type"]), life.message.get("app_type")
    said = f"{life.protocol} {kind} ({inner})" if inner else f"{life.protocol} {kind}"
    yield [line(Cell(said, "bold")), line(life.message_id)]
    if life.message["conflict"]:
        yield [line(Cell("one id, several contents", "bold red"))]
    if life.message["source"] is not None:
        yield _who(life, "  from", life.message["source"])
    seen: datetime = life.message["first_seen"]
    deadlines = {fate["deadline"] for fate in life.fates} - {None}
    left = f", deadline {after(_ms(deadlines.pop() - seen))}" if len(deadlines) == 1 else ""
    yield [line(f"  first seen {exact(seen)}{left}")]
    made = {fate["created_at"] for fate in life.fates} - {None}
    if len(made) == 1 and (waited := _ms(seen - made.pop())) >= LONG_MS:
        yield [line(f"  made {spoken(waited)} before that, by its sender's clock")]


def _fates(life: "Life", fates: Sequence[Row]) -> Iterator[list[Text]]:
    if not life.fates:
        yield [line("  nobody meant it to be delivered, so it has no fate")]
    if len(life.fates) > 1:
        states = Counter(str(fate["state"]) for fate in life.fates)
        known = [*STATES, *sorted(set(states) - set(STATES))]
        said = ", ".join(f"{states[one]:,} {_words(one)}" for one in known if states[one])
        yield [line(f"  {len(life.fates):,} destinations: {said}")]
    for fate in fates:
        to = fate["destination"]
        yield [line("  to all")] if to is None else _who(life, "  to", to)
        yield list(_fate(fate))
    if len(life.fates) > len(fates):
        yield [line(Cell(f"  and {len(life.fates) - len(fates):,} more: --all", "dim"))]


def _fate(fate: Row) -> Iterator[Text]:
    """What became of it, and what proves that."""
    reason = f" ({fate['reason']})" if fate["reason"] else ""
    passed = f" after {spoken(fate['latency_ms'])}" if fate["latency_ms"] is not None else ""
    comma = "," if fate["evidence_frame"] else ""
    skew = fate["skew_ms"]
    skewed = f", by clocks that differ by {spoken(skew)} or more" if skew else ""
    state = Cell(_words(fate["state"]), COLOURS.get(fate["state"], ""))
    yield line("    ", state, reason, passed, skewed, comma)
    if fate["evidence_frame"]:
        kind = "a node's word" if fate["evidence_kind"] == "witness" else "a frame"
        yield line(f"proven by {kind}, {PROOF} {fate['evidence_frame']}")


def _draw_steps(shown: Console, life: "Life", proofs: set[Any], *, whole: bool) -> None:
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


def _step(life: "Life", step: Row, proofs: set[Any]) -> list[Words]:
    begin: datetime = life.steps[0]["captured_at"]
    passed = _ms(step["captured_at"] - begin)
    outcome = " ".join(str(step[key]) for key in ("outcome", "outcome_reason") if step[key])
    return [
        Cell(PROOF, "bold") if step["sighting"] in proofs else "",
        after(passed),
        _seen(step),
        _way(life, step),
        str(step["link"] or ""),
        Cell(str(step["type"]), "" if step["own"] else "dim"),
        str(step["auth"]),
        Cell(outcome, "red" if step["outcome"] == "rejected" else ""),
    ]


def _seen(step: Row) -> str:
    """What the node saw of it there."""
    if step["direction"] == "local" and step["outcome"] in ENDS:
        return "held"
    return SEEN.get(step["direction"], "?")


def _way(life: "Life", step: Row) -> str:
    """From whom to whom a frame went, or where it was made."""
    node, peer = str(step["node"]), step["peer"]
    if peer is not None:
        peer = life.names.get(peer, str(peer))
    if step["direction"] == "in":
        return f"{peer or '?'} → {node}"
    return f"{node} → {peer or 'all'}" if step["direction"] == "out" else node


def _who(life: "Life", before: str, identity: str) -> list[Text]:
    """An identity, with its node's name before it where that is known."""
    name = life.names.get(identity)
    if name in (None, identity):
        return [line(f"{before} {identity}")]
    return [line(f"{before} {name}"), line(str(identity))]


def _ms(passed: timedelta) -> float:
    return passed / timedelta(milliseconds=1)


def _words(state: str) -> str:
    return str(state).replace("_", " ")
