"""`wireloom capture prune`: deletes old captures."""

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from wireloom.cli.capture_data import kept_segments, nodes_option
from wireloom.cli.data import captures, data_option
from wireloom.cli.misuse import MisuseError
from wireloom.remote import AnyPath
from wireloom.wire.visible import visible

if TYPE_CHECKING:
    from wireloom.capture.receipts import Receipts
    from wireloom.capture.retention import KeptSegment, PruneResult


class Age(click.ParamType[float]):
    """How old something may be."""

    name = "age"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds."""
        from wireloom.capture.retention import take_age

        try:
            return take_age(value)
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


@click.command("prune")
@data_option
@nodes_option
@click.option("--max-bytes", type=click.IntRange(min=0), help="Keep no more than this.")
@click.option(
    "--max-age", type=Age(), help="Keep nothing that was sealed longer ago than this: 12h, 7d."
)
@click.option("--force", is_flag=True, help="Also delete what no pipeline has taken.")
def prune_(
    data: AnyPath,
    *,
    nodes: tuple[str, ...],
    max_bytes: int | None,
    max_age: float | None,
    force: bool,
) -> None:
    """Delete sealed segments, the oldest first, that a pipeline has taken.

    Exit status: 0 if what is left is within the bounds, 1 if not or if a file cannot be deleted, 2
    for misuse.
    """
    from wireloom.capture.receipts import Receipts
    from wireloom.capture.retention import Bounds, prune

    if max_bytes is None and max_age is None:
        raise MisuseError("Say what to keep: --max-bytes, --max-age, or both.")
    kept_segments(data, nodes)
    folder = captures(data)
    bounds = Bounds(max_bytes, max_age)
    try:
        pruned = prune(folder, bounds, now=time.time(), nodes=nodes, force=force)
    except OSError as error:
        raise click.ClickException(f"{folder}: {error.strerror or error}.") from None
    _tell(pruned, Receipts(folder))
    sys.exit(1 if pruned.overdue else 0)


def _tell(pruned: "PruneResult", receipts: "Receipts") -> None:
    for one in pruned.deleted:
        click.echo(f"deleted {visible(one.segment.name)}, {one.size:,} bytes")
    click.echo(f"deleted {_summed(pruned.deleted)}, kept {_summed(pruned.left)}")
    if pruned.overdue:
        click.echo(f"kept although too old or too many: {_summed(pruned.overdue)}", err=True)
        lacking = sorted({root for one in pruned.overdue for root in receipts.lacking(one.segment)})
        for root in lacking or ["any pipeline"]:
            click.echo(f"not taken by {visible(root)}", err=True)


def _summed(found: "list[KeptSegment]") -> str:
    many = "segment" if len(found) == 1 else "segments"
    return f"{len(found):,} {many} with {sum(one.size for one in found):,} bytes"
