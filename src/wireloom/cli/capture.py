"""`wireloom capture`: looking at captured frames, taking them in, and giving them out."""

import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import click

from wireloom.capture.jsonl import put_line
from wireloom.capture.reader import batch_count
from wireloom.capture.record import rows
from wireloom.capture.segment import Segment
from wireloom.cli.capture_data import Log, kept_segments, nodes_option
from wireloom.cli.capture_export import export
from wireloom.cli.capture_import import import_
from wireloom.cli.capture_prune import prune_
from wireloom.cli.capture_stat import stat
from wireloom.cli.data import data_option

FOLLOW_SECONDS: Final = 0.25

Kept = tuple[dict[str, Any], Segment]


@click.group("capture")
def command() -> None:
    """Show, import and export captured frames."""


command.add_command(stat)
command.add_command(export)
command.add_command(import_)
command.add_command(prune_)


@command.command("cat")
@data_option
@nodes_option
@click.option("--first", type=int, help="From this sequence number on.")
@click.option("--last", type=int, help="Up to this sequence number, included.")
def cat(data: Path, *, nodes: tuple[str, ...], first: int | None, last: int | None) -> None:
    """Print captured frames as JSON lines, node by node.

    Exit status: 0 if all could be read, 1 if a part is damaged, 2 for misuse.
    """
    log = Log()
    for segment in kept_segments(data, nodes):
        for batch in log.batches(segment):
            for row in rows(batch):
                if (first is None or row["sequence"] >= first) and (
                    last is None or row["sequence"] <= last
                ):
                    _print(row, segment)
    sys.stdout.buffer.flush()
    sys.exit(1 if log.is_damaged else 0)


@command.command("tail")
@data_option
@nodes_option
@click.option(
    "-n",
    "count",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many frames.",
)
@click.option("--follow", is_flag=True, help="Go on with frames as they come.")
def tail(data: Path, *, nodes: tuple[str, ...], count: int, follow: bool) -> None:
    """Print the frames that were captured last, by time, as JSON lines.

    Exit status: 0 if all could be read, 1 if a part is damaged, 2 for misuse.
    """
    log = Log()
    found = kept_segments(data, nodes)
    seen = {(one.node, one.first_sequence): batch_count(one) for one in found}
    for row, segment in _last(log, found, count):
        _print(row, segment)
    sys.stdout.buffer.flush()
    try:
        while follow:
            _print_new(log, kept_segments(data, nodes), seen)
            time.sleep(FOLLOW_SECONDS)
    except KeyboardInterrupt:
        pass
    sys.exit(1 if log.is_damaged else 0)


def _last(log: Log, found: list[Segment], count: int) -> list[Kept]:
    """The last frames of all nodes by time, reading no more than each node's last ones."""
    by_node: dict[str, list[Kept]] = defaultdict(list)
    for segment in reversed(found):
        kept = by_node[segment.node]
        if len(kept) < count:
            of_segment = [(row, segment) for batch in log.batches(segment) for row in rows(batch)]
            kept[:0] = of_segment[-count:]
    merged = [one for kept in by_node.values() for one in kept]
    merged.sort(key=lambda one: (one[0]["captured_at"], one[0]["node"], one[0]["sequence"]))
    return merged[-count:] if count else []


def _print_new(log: Log, found: list[Segment], seen: dict[tuple[str, int], int]) -> None:
    for segment in found:
        key = (segment.node, segment.first_sequence)
        start, there = seen.get(key, 0), batch_count(segment)
        if there > start:
            for batch in log.batches(segment, start=start):
                for row in rows(batch):
                    _print(row, segment)
            seen[key] = there
    sys.stdout.buffer.flush()


def _print(row: dict[str, Any], segment: Segment) -> None:
    line = put_line(row, sequence=row["sequence"], segment=segment.name)
    sys.stdout.buffer.write(line)
