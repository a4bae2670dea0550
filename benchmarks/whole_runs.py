"""What does a person wait for who types `wireloom pipeline run`?

The whole command is measured, from the start of its process to its end: a few frames, some
thousands, nothing new, one in a hundred more on 200,000, and a million. One more in a hundred is
compared with the run of the other 99. The core-seconds and the memory are those of all processes
that the command starts. Beside the million stands how long DuckDB takes over the tables that come
of it for something like `fates` alone: who sent which message when, and which answer came first.
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
from timing import Figure, seconds
from wireloom.capture.reader import read_segment
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter
from wireloom.lake import Lake

ROUNDS: Final = 3
COMMAND: Final = (str(Path(sys.executable).with_name("wireloom")), "pipeline", "run", "--data")
SMALL: Final = ((115, 12.0), (2_000, 12.0), (20_000, 20.0))
LARGE: Final = 200_000
MILLION: Final = 1_000_000
RATE: Final = 15_000.0
MOST_CORE_SECONDS: Final = 30.0
MOST_MEMORY: Final = 1_500.0
NOTHING_NEW: Final = 5.0
MORE: Final = 0.15
LIKE_FATES: Final = """
    with seen as (
        select f.*, coalesce(v.auth, 'unchecked') as auth
        from frames f left join verdicts v using (protocol, content)),
    sent as (
        select protocol, message_id, min({'captured_at': captured_at, 'sighting': sighting,
               'source': source, 'type': type, 'destination': destination}) as first,
               max(hops) as hops, count(*) as copies
        from seen where auth <> 'invalid' and message_id is not null group by all),
    answers as (
        select protocol, reply_to as message_id,
               min({'captured_at': captured_at, 'sighting': sighting, 'type': type}) as answer
        from seen where auth in ('valid', 'unchecked') and reply_to is not null group by all)
    select count(*), count(answer), max(first), max(answer)
    from sent left join answers using (protocol, message_id)
"""


def measure() -> list[Figure]:
    """The figures."""
    with TemporaryDirectory(dir=DATA) as folder:
        return [
            *[figure for count, most in SMALL for figure in _small(Path(folder), count, most)],
            *_growing(Path(folder)),
            _million(Path(folder)),
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


def _million(folder: Path) -> Figure:
    print(f"  a run of {MILLION:,} frames", flush=True)
    data = folder / "million"
    whole = _fresh_run(
        data, lambda captures: shutil.copytree(mixed(MILLION) / "captures", captures)
    )
    lake = Lake(data / "tables")
    yardstick = seconds(lambda: list(lake.rows(LIKE_FATES)))
    print(f"    {whole}", flush=True)
    rate = MILLION / whole.seconds
    return Figure(
        f"`pipeline run`, {MILLION:,} frames: frames a second",
        f"{rate:,.0f} ({whole.seconds:.0f} s, {whole.peak:,.0f} MB)",
        f"DuckDB, something like `fates` alone: {yardstick:.1f} s",
        rate,
        RATE,
        unit="/s",
    )


def _fresh_run(data: Path, fill: Callable[[Path], object]) -> Cost:
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
