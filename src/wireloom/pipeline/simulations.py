"""Simulated worlds that Spark's workers play; the table has the last sweep of each scenario.

What a world is and how it is played is known to whoever calls: here worlds are numbers, and a
function plays one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import SparkContext

from wireloom.pipeline.progress import silent
from wireloom.pipeline.sharing import Place, check_shared
from wireloom.pipeline.spark import Spark, Style
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Column, Table

Played = Callable[[int], Mapping[str, object]]
"""Plays the world of a number, on a worker; gives its row."""

APP: Final = "sweep"
MAX_TASKS: Final = 2_000
"""Up to so many worlds each is a task of its own, so that long ones hold nobody up."""

POLL_SECONDS: Final = 0.5

SIMULATIONS: Final = Table(
    "simulations",
    "One row a simulated world of the last sweep of each scenario.",
    (
        Column("scenario", "string", "The scenario's file, without folder and ending."),
        Column("seed", "bigint", "What all chance in it followed from."),
        Column("parameters", "map<string,string>", "What was set in the scenario, by its path."),
        Column("broken", "string", "The invariant that did not hold; none if all did."),
        Column("words", "string", "How it did not hold."),
        Column("fingerprint", "string", "A hash over all frames, hex."),
        Column("frames", "bigint", "Frames that were sent."),
        Column("sent", "bigint", "Messages that applications meant for somebody by name."),
        Column("delivered", "bigint", "Of those, what arrived at all of them."),
        Column("delivery_ratio", "double", "`delivered` of `sent`; none if nothing was sent."),
        Column("latency_p50_ms", "double", "How long half of those took, in its time.", "ms"),
        Column("latency_p99_ms", "double", "How long all but a hundredth took.", "ms"),
        Column("transmissions", "double", "Frames a message of `sent`."),
        Column("seconds", "double", "How much of its time was played.", "s"),
    ),
    ("scenario", "parameters", "seed"),
)


def sweep(
    spark: Spark,
    store: TableStore,
    play: Played,
    count: int,
    *,
    needs: Sequence[Place] = (),
    played: Callable[[int], None] = silent,
) -> pa.Table:
    """Plays worlds and stores their rows, in place of those of the same scenario; gives them.

    Args:
        spark: Where they are played.
        store: The tables.
        play: Plays one; it is sent to the workers.
        count: How many there are: their numbers begin at 0.
        needs: The folders that playing reads.
        played: Told how many are done.

    Raises:
        WorkersError: If the workers of a cluster cannot play.
    """
    spark.begin(Style.LIGHT)
    if not spark.is_local:
        check_shared(spark.session(), needs)
    tasks = min(count, MAX_TASKS)
    numbers = spark.session().range(0, count, 1, tasks)
    rows = numbers.mapInArrow(partial(_play, play), SIMULATIONS.schema)
    context = spark.session().sparkContext
    with ThreadPoolExecutor(1) as beside:
        collected = beside.submit(rows.toArrow)
        for share in _shares(context, collected, tasks):
            played(int(share * count))
        found = _typed(collected.result())
    _put(store, found)
    return found


def _play(play: Played, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Plays worlds, on a worker."""
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            yield pa.RecordBatch.from_pylist([dict(play(number))], schema=SIMULATIONS.arrow)


def _shares(context: SparkContext, job: Future[pa.Table], tasks: int) -> Iterator[float]:
    """How much of a job's tasks is done, from time to time until it is."""
    tracker = context.statusTracker()
    while not wait([job], POLL_SECONDS).done:
        stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
        yield sum(stage.numCompletedTasks for stage in stages if stage is not None) / tasks


def _typed(rows: pa.Table) -> pa.Table:
    """Rows with the table's own types: Spark names the parts of a map in another way."""
    return pa.Table.from_pylist(rows.to_pylist(), schema=SIMULATIONS.arrow)


def _put(store: TableStore, rows: pa.Table) -> None:
    """Stores rows in place of those of the same scenarios."""
    others = []
    if store.log.computed(SIMULATIONS, APP) >= 0:
        is_other = ~pc.field("scenario").isin(rows["scenario"].unique())
        kept = store.scan(SIMULATIONS, SIMULATIONS.arrow.names, where=is_other)
        others = [_typed(one) for _, one in kept]
    version = store.log.version(SIMULATIONS.name) + 1
    store.put(SIMULATIONS, pa.concat_tables([*others, rows]), app=APP, version=version)
