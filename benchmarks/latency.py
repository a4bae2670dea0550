"""How long after a frame is on disk do the tables show it, while the pipeline watches?

A process with the real capture writer adds 1,000 frames a second of generated traffic of all
protocols, a hundred at a time, and notes when each hundred is flushed and synced. A real
`wireloom pipeline watch` runs beside it. Afterwards the tables' own logs tell when each row was
committed, which is when a reader can see it first: nothing is asked of them meanwhile, so
nothing disturbs the watch.

A frame's latency is from its flush to the commit that has its row in `frames`; a message's from
the flush of its first frame to the commit that has its first row in `messages` or `fates`.
What is flushed in the first two minutes does not count: Spark starts, catches up and compiles then.
`BENCH_SECONDS` is for how long it is measured after that.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep, time
from typing import Final, NamedTuple

import msgspec
import pyarrow.parquet as pq

from corpora import DATA, mixed
from timing import Figure
from wireloom.capture.frame import CapturedFrame, from_batch, to_batch
from wireloom.capture.reader import Damage, read_segment
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter
from wireloom.pipeline.decoding import Kind, decode_batch

RATE: Final = 1_000
TICK: Final = 0.1
MEASURED: Final = int(os.environ.get("BENCH_SECONDS", "60"))
WARM_UP: Final = 120
CATCH_UP: Final = 15
"""Seconds for the watch to bring the last rows, after the last frame."""

FRAMES: Final = RATE * (WARM_UP + MEASURED)
GOALS: Final = {"frames": 1.0, "messages": 4.0, "fates": 4.0}


class Frame(NamedTuple):
    """What is known of one frame that was written."""

    message_id: str | None
    flushed_at: float


def measure() -> list[Figure]:
    """The figures."""
    corpus = mixed(FRAMES + FRAMES // 10) / "captures"
    with TemporaryDirectory(dir=DATA) as folder:
        data = Path(folder)
        _record(corpus, data)
        frames = written(corpus, data / "flushed.jsonl")
        return [_figure(data, frames, name) for name in GOALS]


def _record(corpus: Path, data: Path) -> None:
    """Lets writer and watch run."""
    print(f"  {WARM_UP} s to warm up, {MEASURED} s measured", flush=True)
    (data / "captures").mkdir()
    writer = get_context("spawn").Process(target=write, args=(corpus, data))
    writer.start()
    command = str(Path(sys.executable).with_name("wireloom"))
    with (data / "watch.log").open("wb") as log:
        watch = subprocess.Popen(
            [command, "pipeline", "watch", "--data", str(data)], stdout=log, stderr=log
        )
        writer.join()
        sleep(CATCH_UP)
        if watch.poll() is not None:
            raise RuntimeError((data / "watch.log").read_text()[-2000:])
        watch.terminate()
        watch.wait(timeout=300)


def write(corpus: Path, data: Path) -> None:
    """Appends the corpus at its rate, and notes when each part was flushed."""
    frames = traffic(corpus)
    size = int(RATE * TICK)
    begin = time()
    with (
        CaptureWriter(data / "captures", "bench") as writer,
        (data / "flushed.jsonl").open("w") as log,
    ):
        for place in range(0, FRAMES, size):
            sleep(max(0.0, begin + place / RATE - time()))
            now = int(time() * 1e6)
            for frame in frames[place : place + size]:
                writer.append(msgspec.structs.replace(frame, captured_at=now))
            writer.flush()
            log.write(json.dumps(time()) + "\n")


def traffic(corpus: Path) -> list[CapturedFrame]:
    """The corpus in the order of its capture."""
    frames: list[CapturedFrame] = []
    for segment in segments(corpus):
        for batch in read_segment(segment):
            if isinstance(batch, Damage):
                raise TypeError(batch)
            frames += from_batch(batch)
    return sorted(frames, key=lambda frame: frame.captured_at)


def written(corpus: Path, log: Path) -> dict[str, Frame]:
    """The frames that the writer wrote and that decode, by their sighting."""
    flushed = [float(line) for line in log.read_text().splitlines()]
    rows = decode_batch(to_batch(traffic(corpus)[:FRAMES], first_sequence=0))
    known = {}
    columns = (rows.column(name).to_pylist() for name in ("sighting", "message_id", "kind"))
    for place, (sighting, id_, kind) in enumerate(zip(*columns, strict=True)):
        if kind == Kind.FRAMES:
            known[sighting] = Frame(id_, flushed[int(place // (RATE * TICK))])
    return known


def _figure(data: Path, frames: dict[str, Frame], name: str) -> Figure:
    taken = sorted(_latencies(data, frames, name)) or [float("inf")]
    middle = statistics.median(taken)
    worst = taken[int(0.99 * (len(taken) - 1))]
    return Figure(
        f"watch at {RATE:,} frames/s: from disk to `{name}`, p50",
        f"{middle:.2f} s",
        f"p99: {worst:.2f} s, of {len(taken):,}",
        middle,
        GOALS[name],
        unit=" s",
        at_most=True,
    )


def _latencies(data: Path, frames: dict[str, Frame], name: str) -> Iterator[float]:
    """Of what was flushed after the warm-up; what never came is infinitely late."""
    begin = min(frame.flushed_at for frame in frames.values()) + WARM_UP
    if name == "frames":
        seen = visible(data / "tables" / name, "sighting")
        due = {sighting: frame.flushed_at for sighting, frame in frames.items()}
    else:
        seen = visible(data / "tables" / name, "message_id")
        due = {}
        for frame in frames.values():
            if frame.message_id is not None:
                due.setdefault(frame.message_id, frame.flushed_at)
        if name == "fates":  # not every message is owed one
            due = {id_: at for id_, at in due.items() if id_ in seen}
    for key, flushed_at in due.items():
        if flushed_at >= begin:
            yield seen.get(key, float("inf")) - flushed_at


def visible(table: Path, column: str) -> dict[str, float]:
    """When each value of a column was committed first."""
    first: dict[str, float] = {}
    for commit in sorted((table / "_delta_log").glob("*.json")):
        at = commit.stat().st_mtime
        for line in commit.read_text().splitlines():
            added = json.loads(line).get("add")
            if added is not None:
                values = pq.read_table(table / added["path"], columns=[column]).column(column)
                for value in values.to_pylist():
                    first.setdefault(value, at)
    return first
