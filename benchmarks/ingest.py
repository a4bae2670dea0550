"""Does ingest store frames nearly as fast as Spark copies the rows that it makes of them?

Ingest reads capture segments, checks and decodes every frame, and commits all columns and the
raw bytes to Delta tables. The peer is Spark's Parquet to Parquet copy of the very rows that
ingest wrote: same session, same codec (zstd), and no Python. Both take turns in one warm session.

Then: whether ten times the frames take ten times as long; whether the driver's memory stays as
it is, the Python process's (resident) and the JVM's (heap in use after collections); and what
damaged frames cost.
"""

import gc
import re
import statistics
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any, Final
from uuid import uuid4

from pyspark.sql import SparkSession

from corpora import DAMAGED, DATA, FRAMES, mesh_captures, mixed
from timing import Figure, take_turn, take_turns
from wireloom.pipeline import frame_tables
from wireloom.pipeline.source import available, runs, share
from wireloom.pipeline.spark import Started, session
from wireloom.pipeline.stages.ingest import ingest
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.storing import Storing, stored_here

ROUNDS: Final = 3
DAMAGED_FRAMES: Final = FRAMES // 5
SHARES: Final = 10
FINE_ROUNDS: Final = 5

FLAT: Final = 1.15
"""Memory that grows by less than this is noise."""

COLLECTIONS: Final = 5


class Bench:
    """Ingests and copies below a folder, each time to a new place."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder

    def ingest(self, captures: Path) -> TableStore:
        """From segments to committed tables."""
        store = TableStore(self._folder / uuid4().hex)
        ingest(Started(self._spark), captures, store, on_batch=lambda _: None)
        return store

    def copy(self, store: TableStore) -> None:
        """Parquet to Parquet, all rows of the tables that ingest wrote."""
        target = self._folder / uuid4().hex
        for table in frame_tables.ingested():
            if store.log.open(table.name):
                store.read(self._spark, table).write.parquet(str(target / table.name))

    def clear(self, *, but: TableStore) -> None:
        """Removes all that was written, except one."""
        for path in self._folder.iterdir():
            if str(path) != but.root:
                rmtree(path)

    def memory(self) -> tuple[float, float]:
        """MB in use by the driver: Python's resident set, and the JVM's heap."""
        gc.collect()
        (resident,) = re.findall(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
        return int(resident) / 1e3, min(self._heap() for _ in range(COLLECTIONS))

    def _heap(self) -> float:
        """What is left of the JVM's heap after a collection; Spark lets go of more after each."""
        jvm: Any = self._spark.sparkContext._jvm  # there is no public way to the JVM
        jvm.java.lang.System.gc()
        sleep(0.2)
        heap = jvm.java.lang.Runtime.getRuntime()
        return float(heap.totalMemory() - heap.freeMemory()) / 1e6


def measure() -> list[Figure]:
    """The figures."""
    tenth, whole, all_kinds = mesh_captures(FRAMES // 10), mesh_captures(), mixed() / "captures"
    clean, spoilt = (mixed(DAMAGED_FRAMES, damage=share) / "captures" for share in (0, DAMAGED))
    spark = session()
    try:
        with TemporaryDirectory(dir=DATA) as folder:
            bench = Bench(spark, Path(folder))
            return [
                _against_copy(bench, "MyriadMesh", whole, goal=0.7),
                _against_copy(bench, "mixed", all_kinds, goal=0.4),
                *_growth(bench, tenth, whole),
                _damage(Path(folder) / "shares", clean, spoilt),
            ]
    finally:
        spark.stop()


def _against_copy(bench: Bench, name: str, captures: Path, *, goal: float) -> Figure:
    print(f"  ingest of {FRAMES:,} {name} frames, and a copy of its rows", flush=True)
    written = bench.ingest(captures)  # warms up as well
    bench.copy(written)
    taken = take_turns(
        lambda: bench.ingest(captures),
        lambda: bench.copy(written),
        rounds=ROUNDS,
        tidy=lambda: bench.clear(but=written),
    )
    ours, peer = (statistics.median(side) for side in zip(*taken, strict=True))
    return Figure(
        f"ingest, {FRAMES:,} {name} frames",
        f"{FRAMES / ours:,.0f} frames/s",
        f"Spark's Parquet copy: {FRAMES / peer:,.0f} frames/s",
        statistics.median(other / mine for mine, other in taken),
        goal,
    )


class Worker:
    """Does what ingest's workers do, share by share.

    Args:
        captures: What is stored.
        tables: Where to.
    """

    def __init__(self, captures: Path, tables: Path) -> None:
        names = tuple(table.name for table in frame_tables.ingested())
        shares = share(runs(captures, {}, available(captures)), SHARES)
        self._tables = tables
        self._wanted = Storing(str(tables), names, 0, shares)

    def store(self, number: int) -> None:
        """Decodes a share and writes its files."""
        stored_here(self._wanted._replace(shares=[self._wanted.shares[number]]))

    def clear(self) -> None:
        """Removes all files."""
        rmtree(self._tables)


def _damage(folder: Path, clean: Path, spoilt: Path) -> Figure:
    """What damage costs the workers: the rest of ingest handles files and sees none of it.

    From one time to the next a whole ingest differs by more than the goal, so the two take turns
    share by share.
    """
    print(f"  storing with and without {DAMAGED:.0%} of damaged frames", flush=True)
    ours, peer = Worker(spoilt, folder / "spoilt"), Worker(clean, folder / "clean")
    taken = []
    for number in range(FINE_ROUNDS):
        turns = [
            take_turn(
                partial(ours.store, share), partial(peer.store, share), is_first=bool(share % 2)
            )
            for share in range(SHARES)
        ]
        ours.clear()
        peer.clear()
        mine, other = (sum(side) for side in zip(*turns, strict=True))
        taken.append((mine, other))
        print(f"    round {number + 1} of {FINE_ROUNDS}: {mine:.2f} s, {other:.2f} s", flush=True)
    mine, other = (statistics.median(side) for side in zip(*taken, strict=True))
    return Figure(
        f"storing {DAMAGED_FRAMES:,} mixed frames, {DAMAGED:.0%} of them damaged, time",
        f"{mine:.2f} s",
        f"the same without damage: {other:.2f} s",
        statistics.median(mine / other for mine, other in taken),
        1.03,
        at_most=True,
    )


def _growth(bench: Bench, tenth: Path, whole: Path) -> Iterator[Figure]:
    print(f"  ingest of {FRAMES // 10:,} and of {FRAMES:,} frames", flush=True)
    kept = bench.ingest(tenth)
    small = bench.memory()
    taken = take_turns(
        lambda: bench.ingest(whole),
        lambda: bench.ingest(tenth),
        rounds=ROUNDS,
        tidy=lambda: bench.clear(but=kept),
    )
    bench.ingest(whole)
    large = bench.memory()
    ours, peer = (statistics.median(side) for side in zip(*taken, strict=True))
    yield Figure(
        f"ingest, {FRAMES:,} frames, time",
        f"{ours:.2f} s",
        f"a tenth of them: {peer:.2f} s",
        statistics.median(mine / other for mine, other in taken),
        11,
        at_most=True,
    )
    for name, one, other in zip(("Python, resident", "JVM, heap"), large, small, strict=True):
        yield Figure(
            f"driver's memory after {FRAMES:,} frames, {name}",
            f"{one:,.0f} MB",
            f"after a tenth of them: {other:,.0f} MB",
            one / other,
            FLAT,
            at_most=True,
        )
