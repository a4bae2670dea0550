"""`wireloom capture stat`: what lies in the log, segment by segment."""

import sys
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from wireloom.capture.segment import Segment
from wireloom.cli.capture_data import damage_sentence, kept_segments, nodes_option
from wireloom.cli.data import data_option
from wireloom.cli.terminal import Grid, console
from wireloom.remote import AnyPath
from wireloom.wire.visible import visible

if TYPE_CHECKING:
    import pyarrow as pa

    from wireloom.capture.reader import Damage

COLUMNS: Final = (
    "segment",
    "state",
    "batches",
    "frames",
    "bytes",
    "from",
    "to",
    "protocols",
    "damage",
)


class SegmentStat(NamedTuple):
    """What one segment holds."""

    segment: Segment
    batch_count: int
    row_count: int
    size: int
    times: list[int]
    """The earliest and the latest `captured_at` in µs; empty if there is none."""

    protocols: Counter[str]
    unchecked_count: int
    """Batches without a checksum."""

    damage: "list[Damage]"


@click.command("stat")
@data_option
@nodes_option
def stat(data: AnyPath, *, nodes: tuple[str, ...]) -> None:
    """Show the segments: frames, bytes, times, protocols, damage.

    Reads and checks everything. Exit status: 0 if all could be read, 1 if a part is damaged, 2
    for misuse.
    """
    stats = [stat_of(segment) for segment in kept_segments(data, nodes)]
    _grid(stats).draw(console(), folds_at=5)
    damage = [one for stat in stats for one in stat.damage]
    for one in damage:
        click.echo(visible(damage_sentence(one)), err=True)
    sys.exit(1 if damage else 0)


def stat_of(segment: Segment) -> SegmentStat:
    """Reads a segment through."""
    from wireloom.capture.reader import Damage, batch_count, read_segment

    row_count = 0
    times: list[int] = []
    protocols: Counter[str] = Counter()
    damage = []
    for item in read_segment(segment):
        if isinstance(item, Damage):
            damage.append(item)
            continue
        row_count += item.num_rows
        times += _extremes(item)
        for one in item.column("protocol").value_counts().to_pylist():
            protocols[one["values"] or "unknown"] += one["counts"]
    there = batch_count(segment)
    return SegmentStat(
        segment,
        there,
        row_count,
        _size(segment),
        [min(times), max(times)] if times else [],
        protocols,
        there - min(there, len(segment.sums())),
        damage,
    )


def _extremes(batch: "pa.RecordBatch") -> list[int]:
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.min_max(batch.column("captured_at").cast(pa.int64()))
    return [value for value in (found["min"].as_py(), found["max"].as_py()) if value is not None]


def _size(segment: Segment) -> int:
    try:
        return segment.path.stat().st_size
    except OSError:
        return 0


def _grid(stats: list[SegmentStat]) -> Grid:
    from wireloom.capture.jsonl import instant

    grid = Grid(*COLUMNS, right=COLUMNS[2:5])
    for one in stats:
        grid.add(
            one.segment.name,
            "sealed" if one.segment.sealed else "open",
            str(one.batch_count),
            f"{one.row_count:,}",
            f"{one.size:,}",
            *([str(instant(at)) for at in one.times] or ["", ""]),
            ", ".join(f"{name} {count:,}" for name, count in one.protocols.most_common()),
            _damage(one),
        )
    counts = [sum(one.batch_count for one in stats), sum(one.row_count for one in stats)]
    sums = [f"{count:,}" for count in (*counts, sum(one.size for one in stats))]
    grid.add(f"{len(stats):,} segments", "", *sums, "", "", "", "")
    return grid


def _damage(one: SegmentStat) -> str:
    said = [f"{len(one.damage)} damaged"] if one.damage else []
    said += [f"{one.unchecked_count} without checksum"] if one.unchecked_count else []
    return ", ".join(said)
