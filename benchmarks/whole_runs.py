"""What does a person wait for who types `wireloom pipeline run`?

The whole command is measured, from the start of its process to its end: a few frames, some
thousands, nothing new, and one in a hundred more on 200,000. The last is compared with the run of
the other 99. The core-seconds and the memory are those of all processes that the command starts.
"""

import shutil
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pyarrow as pa

from corpora import DATA, mixed
from processes import Cost, cost
from timing import Figure
from wireloom.capture.reader import read_segment
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter

ROUNDS: Final = 3
COMMAND: Final = (str(Path(sys.executable).with_name("wireloom")), "pipeline", "run", "--data")
SMALL: Final = ((115, 12.0), (2_000, 12.0), (20_000, 20.0))
LARGE: Final = 200_000
MOST_CORE_SECONDS: Final = 30.0
MOST_MEMORY: Final = 1_500.0
NOTHING_NEW: Final = 5.0
MORE: Final = 0.15


def measure() -> list[Figure]:
    """The figures."""
    with TemporaryDirectory(dir=DATA) as folder:
        return [
            *[figure for count, most in SMALL for figure in _small(Path(folder), count, most)],
            *_growing(Path(folder)),
        ]


def _small(folder: Path, count: int, most: float) -> list[Figure]:
    print(f"  runs of {count:,} frames", flush=True)
    data = folder / str(count)
    taken = [_fresh_run(data, lambda captures: _first(captures, count)) for _ in range(ROUNDS)]
    question = f"`pipeline run`, {count:,} frames"
    figures = [_seconds(question, [one.seconds for one in taken], most)]
    if count == SMALL[1][0]:
        spent = statistics.median(one.core_seconds for one in taken)
        peak = statistics.median(one.peak for one in taken)
        figures += [
            _figure(f"{question}: core-seconds", f"{spent:.1f}", spent, MOST_CORE_SECONDS, " s"),
            _figure(f"{question}: memory", f"{peak:,.0f} MB", peak, MOST_MEMORY, " MB"),
        ]
        again = [cost([*COMMAND, str(data)]).seconds for _ in range(ROUNDS)]
        figures.append(_seconds("`pipeline run`, nothing new", again, NOTHING_NEW))
    return figures


def _growing(folder: Path) -> list[Figure]:
    print(f"  a run of {LARGE:,} frames, and one of a hundredth more", flush=True)
    data = folder / "growing"
    whole = _fresh_run(data, lambda captures: _part(captures, 0, 0.99))
    _part(data / "captures", 0.99, 1)
    more = cost([*COMMAND, str(data)])
    return [
        Figure(
            f"`pipeline run`, {LARGE // 100:,} frames more on {LARGE:,}, time",
            f"{more.seconds:.1f} s",
            f"the run before: {whole.seconds:.1f} s",
            more.seconds / whole.seconds,
            MORE,
            at_most=True,
        )
    ]


def _fresh_run(data: Path, fill: Callable[[Path], None]) -> Cost:
    shutil.rmtree(data, ignore_errors=True)
    fill(data / "captures")
    return cost([*COMMAND, str(data)])


def _first(captures: Path, count: int) -> None:
    """The first frames of a corpus, by their capture."""
    corpus = mixed(max(1_000, count)) / "captures"
    rows = pa.Table.from_batches(
        [
            batch
            for segment in segments(corpus)
            for batch in read_segment(segment)
            if isinstance(batch, pa.RecordBatch)
        ]
    ).sort_by("captured_at")
    _write(captures, "bench", rows.slice(0, count))


def _part(captures: Path, begin: float, end: float) -> None:
    """A part of each node's frames, in the order of their capture."""
    for segment in segments(mixed(LARGE) / "captures"):
        batches = [one for one in read_segment(segment) if isinstance(one, pa.RecordBatch)]
        rows = pa.Table.from_batches(batches)
        first, last = (int(rows.num_rows * share) for share in (begin, end))
        if last > first:
            _write(captures, segment.node, rows.slice(first, last - first))


def _write(captures: Path, node: str, rows: pa.Table) -> None:
    first = rows.column("sequence")[0].as_py()
    with CaptureWriter(captures, node, begin=lambda: int(first)) as writer:
        for batch in rows.combine_chunks().to_batches():
            writer.write(batch)


def _seconds(question: str, taken: list[float], most: float) -> Figure:
    middle = statistics.median(taken)
    about = f"slowest of {len(taken)}: {max(taken):.1f} s"
    return Figure(question, f"{middle:.1f} s", about, middle, most, unit=" s", at_most=True)


def _figure(question: str, ours: str, value: float, most: float, unit: str) -> Figure:
    return Figure(question, ours, "–", value, most, unit=unit, at_most=True)
