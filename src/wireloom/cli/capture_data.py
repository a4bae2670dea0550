"""What the commands on captured frames share: finding segments, and telling of damage."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from wireloom.capture.segment import Segment, segments
from wireloom.cli.data import captures, existing
from wireloom.remote import AnyPath
from wireloom.wire.visible import visible

if TYPE_CHECKING:
    import pyarrow as pa

    from wireloom.capture.reader import Damage

nodes_option = click.option("--node", "nodes", multiple=True, help="This node only; repeatable.")


def kept_segments(data: AnyPath, nodes: tuple[str, ...] = ()) -> list[Segment]:
    """The segments under `data`, of some nodes or of all.

    Raises:
        ClickException: If there is no such directory, it cannot be read, or a node is not in it.
    """
    folder = captures(existing(data))
    try:
        is_there, found = folder.is_dir(), list(segments(folder))
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be read: {error.strerror}.") from None
    if not is_there:
        raise click.ClickException(f"{data} holds no captures: there is no directory {folder}.")
    for node in nodes:
        if all(segment.node != node for segment in found):
            raise click.ClickException(f"{folder} has no frames of the node {node}.")
    return [segment for segment in found if not nodes or segment.node in nodes]


class Log:
    """Reads segments and tells of damage on standard error."""

    def __init__(self) -> None:
        self.is_damaged = False

    def batches(self, segment: Segment, *, start: int = 0) -> Iterator["pa.RecordBatch"]:
        """The batches of a segment that can be read."""
        from wireloom.capture.reader import Damage, read_segment

        for item in read_segment(segment, start=start):
            if isinstance(item, Damage):
                self.is_damaged = True
                click.echo(visible(damage_sentence(item)), err=True)
            else:
                yield item


def damage_sentence(damage: "Damage") -> str:
    """Damage in one line."""
    from wireloom.capture.reader import NO_BATCH

    if damage.batch == NO_BATCH:
        return f"{damage.segment.path}: {damage.detail}"
    place = f"batch {damage.batch}, byte {damage.offset}, {damage.rows} frames"
    return f"{damage.segment.path}: {place}: {damage.detail}"
