"""`wireloom capture`: shows, imports and exports captured frames."""

import sys

import click

from wireloom.cli.capture_data import Log, kept_segments, nodes_option
from wireloom.cli.capture_export import export
from wireloom.cli.capture_import import import_
from wireloom.cli.capture_prune import prune_
from wireloom.cli.capture_stat import stat
from wireloom.cli.capture_tail import tail
from wireloom.cli.data import data_option
from wireloom.remote import AnyPath


@click.group("capture")
def command() -> None:
    """Show, import and export captured frames."""


command.add_command(stat)
command.add_command(export)
command.add_command(import_)
command.add_command(prune_)
command.add_command(tail)


@command.command("cat")
@data_option
@nodes_option
@click.option("--first", type=int, help="From this sequence number on.")
@click.option("--last", type=int, help="Up to this sequence number, included.")
def cat(data: AnyPath, *, nodes: tuple[str, ...], first: int | None, last: int | None) -> None:
    """Print captured frames as JSON lines, node by node.

    Exit status: 0 if all could be read, 1 if a part is damaged, 2 for misuse.
    """
    from wireloom.capture.frame import rows
    from wireloom.capture.jsonl import put_line

    log = Log()
    for segment in kept_segments(data, nodes):
        for batch in log.batches(segment):
            for row in rows(batch):
                if (first is None or row["sequence"] >= first) and (
                    last is None or row["sequence"] <= last
                ):
                    line = put_line(row, sequence=row["sequence"], segment=segment.name)
                    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    sys.exit(1 if log.is_damaged else 0)
