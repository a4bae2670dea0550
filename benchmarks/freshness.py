"""How old are the tables while the pipeline watches, for half an hour?

A process with the real capture writer adds 1,000 frames a second of generated traffic of all
protocols. A real `wireloom pipeline watch` runs beside it. Every second the tables' logs are asked
how far each table is: its age is the time since the first slice came to `frames` that the table
does not have yet. The first two minutes do not count: Spark starts and compiles then. Beside the
ages stand the watch's memory, and the files and log entries of all tables, at the end and after a
third of the time: what grows with the time shows there.

`BENCH_WATCH_SECONDS` is for how long it is measured after the warm-up.
"""

import os
import statistics
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep, time
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa

from corpora import DATA, mixed
from processes import resident
from timing import Figure
from wireloom.capture.frame import from_batch
from wireloom.capture.reader import read
from wireloom.capture.writer import CaptureWriter
from wireloom.pipeline import frame_tables
from wireloom.pipeline.catalogue import all_tables
from wireloom.pipeline.derived import DERIVED
from wireloom.pipeline.stages.inputs import APP
from wireloom.pipeline.store import TableStore

RATE: Final = 1_000
TICK: Final = 0.1
WARM_UP: Final = 120
MEASURED: Final = int(os.environ.get("BENCH_WATCH_SECONDS", "1800"))
FRAMES: Final = RATE * (WARM_UP + MEASURED)
TYPICAL: Final = 10.0
OLDEST: Final = 30.0
FLAT: Final = 1.25


class Sample(NamedTuple):
    """What was seen in one second."""

    ages: dict[str, float]
    memory: float
    """MB."""

    files: int
    versions: int


def measure() -> list[Figure]:
    """The figures."""
    corpus = mixed(FRAMES + FRAMES // 10) / "captures"
    with TemporaryDirectory(dir=DATA) as folder:
        samples = _watched(corpus, Path(folder))
    return [*_ages(samples), *_growth(samples)]


def _watched(corpus: Path, data: Path) -> list[Sample]:
    print(f"  {WARM_UP} s to warm up, {MEASURED} s measured", flush=True)
    (data / "captures").mkdir()
    writer = get_context("spawn").Process(target=write, args=(corpus, data, FRAMES))
    writer.start()
    while not any((data / "captures").glob("*.sums")):
        sleep(0.1)
    command = [str(Path(sys.executable).with_name("wireloom")), "pipeline", "watch"]
    with (data / "watch.log").open("wb") as log:
        watch = subprocess.Popen([*command, "--data", str(data)], stdout=log, stderr=log)
        try:
            samples = _sampled(TableStore(data / "tables"), watch)
        finally:
            watch.terminate()
            watch.wait(timeout=300)
            writer.terminate()
            writer.join()
    return samples


def _sampled(store: TableStore, watch: subprocess.Popen[bytes]) -> list[Sample]:
    clock = Ages(store)
    begin, samples = time(), []
    while time() - begin < WARM_UP + MEASURED:
        sleep(1)
        if watch.poll() is not None:
            raise RuntimeError("the watch has ended")
        ages = clock.now()
        if time() - begin >= WARM_UP:
            versions = [store.log.version(table.name) for table in all_tables()]
            counts = [len(store.log.files(table.name)) for table in all_tables()]
            samples.append(Sample(ages, resident(watch.pid), sum(counts), sum(versions)))
            if len(samples) % 60 == 0:
                worst = max(ages, key=lambda name: ages[name])
                print(f"    {len(samples)} s: {worst} is {ages[worst]:.1f} s old", flush=True)
    return samples


class Ages:
    """How far behind each table is."""

    def __init__(self, store: TableStore) -> None:
        self._store = store
        self._came: dict[int, float] = {}

    def now(self) -> dict[str, float]:
        """The age of each table, in seconds."""
        now, last = time(), frame_tables.last_slice(self._store)
        known = max(self._came, default=-1)
        self._came |= dict.fromkeys(range(known + 1, last + 1), now)
        return {
            one.table.name: self._age(self._store.log.done(one.table.name, APP), last, now)
            for one in DERIVED
        }

    def _age(self, done: int, last: int, now: float) -> float:
        return 0.0 if done >= last else now - self._came[done + 1]


def write(corpus: Path, data: Path, count: int) -> None:
    """Appends a corpus at its rate, in the order of its capture."""
    batches = [batch for batch in read(corpus) if isinstance(batch, pa.RecordBatch)]
    rows = pa.Table.from_batches(batches).sort_by("captured_at").combine_chunks()
    size = int(RATE * TICK)
    begin = time()
    with CaptureWriter(data / "captures", "bench") as writer:
        for place in range(0, count, size):
            sleep(max(0.0, begin + place / RATE - time()))
            now = int(time() * 1e6)
            for frame in from_batch(rows.slice(place, size).combine_chunks().to_batches()[0]):
                writer.append(msgspec.structs.replace(frame, captured_at=now))
            writer.flush()


def _ages(samples: list[Sample]) -> list[Figure]:
    names = [one.table.name for one in DERIVED]
    middles = {name: statistics.median(one.ages[name] for one in samples) for name in names}
    worst = {name: max(one.ages[name] for one in samples) for name in names}
    slowest, oldest = (max(one, key=lambda name: one[name]) for one in (middles, worst))
    for name in sorted(names, key=lambda name: -middles[name]):
        print(f"    {name}: median {middles[name]:.1f} s, at most {worst[name]:.1f} s", flush=True)
    about = f"watch at {RATE:,} frames/s for {MEASURED:,} s"
    return [
        Figure(
            f"{about}: age of the slowest table, median",
            f"{slowest} {middles[slowest]:.1f} s",
            f"median of all: {statistics.median(middles.values()):.1f} s",
            middles[slowest],
            TYPICAL,
            unit=" s",
            at_most=True,
        ),
        Figure(
            f"{about}: age of the oldest table at any time",
            f"{oldest} {worst[oldest]:.1f} s",
            f"median of all: {statistics.median(worst.values()):.1f} s",
            worst[oldest],
            OLDEST,
            unit=" s",
            at_most=True,
        ),
    ]


def _growth(samples: list[Sample]) -> list[Figure]:
    third = samples[len(samples) // 3]
    last = samples[-1]
    return [
        Figure(
            f"watch at {RATE:,} frames/s for {MEASURED:,} s: {what}",
            f"{getattr(last, name):,.0f}{unit}",
            f"after a third of the time: {getattr(third, name):,.0f}{unit}",
            getattr(last, name) / getattr(third, name),
            goal,
            at_most=True,
        )
        for what, name, unit, goal in (
            ("memory", "memory", " MB", FLAT),
            ("files of all tables", "files", "", FLAT),
            ("commits of all tables", "versions", "", None),
        )
    ]
