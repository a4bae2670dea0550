"""`wireloom capture tail`: the latest frames, one decoded line each."""

import sys
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import click
from rich.console import Console

from wireloom.capture.segment import Segment
from wireloom.cli.capture_data import Log, kept_segments, nodes_option
from wireloom.cli.data import data_option, on_this_machine
from wireloom.cli.terminal import Cell, console, line
from wireloom.registry import NAMES, protocol
from wireloom.remote import AnyPath
from wireloom.wire.errors import WireError

FOLLOW_SECONDS: Final = 0.25
ARROWS: Final = {"in": "←", "out": "→", "local": "·"}
"""Which way a frame went, by its direction."""

NO_TYPE: Final = "?"


class Sighting(NamedTuple):
    """A captured frame and where it lies."""

    row: dict[str, Any]
    segment: Segment


class Description(NamedTuple):
    """Type and id of a frame, or why it has none."""

    type: str
    id: str | None
    fault: str = ""
    """Why it cannot be decoded."""


class Filter(NamedTuple):
    """Which frames are shown."""

    protocols: tuple[str, ...]
    types: tuple[str, ...]

    def has(self, row: dict[str, Any]) -> bool:
        """Whether a frame is one of them."""
        if self.protocols and row["protocol"] not in self.protocols:
            return False
        return not self.types or describe(row).type in self.types


@click.command("tail")
@data_option
@nodes_option
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    type=click.Choice(NAMES),
    help="This one only; repeatable.",
)
@click.option("--type", "types", multiple=True, help="This type of message only; repeatable.")
@click.option(
    "-n",
    "count",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many frames.",
)
@click.option("--follow", is_flag=True, help="Go on with frames as they come.")
@click.option("--raw", is_flag=True, help="JSON lines with the frames in hex.")
def tail(  # noqa: PLR0913
    data: AnyPath,
    *,
    nodes: tuple[str, ...],
    protocols: tuple[str, ...],
    types: tuple[str, ...],
    count: int,
    follow: bool,
    raw: bool,
) -> None:
    """Show the frames that were captured last, by time: one decoded line each.

    A line has the time (UTC), the node, which way the frame went, the peer, the protocol, type and
    id of the message, and what became of it.

    Exit status: 0 if all could be read, 1 if a part is damaged, 2 for misuse.
    """
    from wireloom.capture.reader import batch_count

    log, wanted, shown = Log(), Filter(protocols, types), console()
    found = kept_segments(on_this_machine(data), nodes)
    seen = {(one.node, one.first_sequence): batch_count(one) for one in found}
    try:
        for kept in _last(log, found, wanted, count):
            _print(shown, kept, raw=raw)
        while follow:
            for kept in _new(log, kept_segments(data, nodes), wanted, seen):
                _print(shown, kept, raw=raw)
            time.sleep(FOLLOW_SECONDS)
    except KeyboardInterrupt:
        if not follow:
            raise
    sys.exit(1 if log.is_damaged else 0)


def describe(row: dict[str, Any]) -> Description:
    """Type and id of a captured frame."""
    name = row["protocol"]
    if name not in NAMES:
        return Description(NO_TYPE, None, "no known protocol")
    spoken = protocol(name)
    try:
        summary = spoken.record.summarise(spoken.codec.decode(row["raw"]), row["raw"])
    except WireError as error:
        return Description(NO_TYPE, None, f"{error.reason}: {error.detail}")
    return Description(summary.type, summary.id)


def _last(log: Log, found: list[Segment], wanted: Filter, count: int) -> list[Sighting]:
    """The last frames of all nodes by time, reading no more than each node's last ones."""
    by_node: dict[str, list[Sighting]] = defaultdict(list)
    for segment in reversed(found):
        kept = by_node[segment.node]
        if len(kept) < count:
            kept[:0] = deque(_frames(log, segment, wanted), maxlen=count)
    merged = [one for kept in by_node.values() for one in kept]
    merged.sort(key=_order)
    return merged[-count:] if count else []


def _order(sighting: Sighting) -> tuple[Any, ...]:
    """By time; of one turn at a node, what came in stands before what it led to."""
    row = sighting.row
    is_answer = row["direction"] != "in"
    return row["captured_at"], row["node"], is_answer, row["sequence"]


def _new(
    log: Log, found: list[Segment], wanted: Filter, seen: dict[tuple[str, int], int]
) -> Iterator[Sighting]:
    """Frames of batches that were not there before."""
    from wireloom.capture.reader import batch_count

    for segment in found:
        key = (segment.node, segment.first_sequence)
        start, there = seen.get(key, 0), batch_count(segment)
        if there > start:
            yield from _frames(log, segment, wanted, start=start)
            seen[key] = there


def _frames(log: Log, segment: Segment, wanted: Filter, *, start: int = 0) -> Iterator[Sighting]:
    from wireloom.capture.frame import rows

    for batch in log.batches(segment, start=start):
        for row in rows(batch):
            if wanted.has(row):
                yield Sighting(row, segment)


def _way(row: dict[str, Any]) -> str:
    """The node, which way the frame went there, and the peer; what is made there may have none."""
    here = f"{row['node']} {ARROWS.get(row['direction'], NO_TYPE)}"
    if row["peer"] is None and row["direction"] == "local":
        return here
    return f"{here} {row['peer'] or NO_TYPE}"


def _print(shown: Console, sighting: Sighting, *, raw: bool) -> None:
    from wireloom.capture.jsonl import instant, put_line

    row, segment = sighting
    if raw:
        sys.stdout.buffer.write(put_line(row, sequence=row["sequence"], segment=segment.name))
        sys.stdout.buffer.flush()
        return
    what = describe(row)
    outcome = " ".join(filter(None, (row["outcome"], row["reason"])))
    words = (
        Cell(f"{instant(row['captured_at'])}  ", "dim"),
        f"{_way(row)}  ",
        f"{row['protocol'] or 'unknown'}  ",
        Cell(what.type, "bold"),
        f"  {what.id}" if what.id else "",
        f"  {outcome}" if outcome else "",
        Cell(f"  ({what.fault})" if what.fault else "", "red"),
    )
    shown.print(line(*words), soft_wrap=True)
