"""Following: the tables that one waits for, brought up to date with a few new rows.

`nodes`, `messages` and `fates` change only where new rows touch them: the messages that they
are or refer to, and those whose deadline has passed. All frames that mention one of these are
gathered, the same transforms run on them alone, and their rows are put in the place of the old
ones. What reaches further (a node plays a new part, an old verdict changed, frames were decoded
anew, or much came at once) is computed from everything.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from wireloom.pipeline import frame_tables
from wireloom.pipeline.merging import Removal, merge
from wireloom.pipeline.spark import framed
from wireloom.pipeline.stages.inputs import APP, refined
from wireloom.pipeline.stages.refine import REJUDGED, VERDICTS
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Table
from wireloom.pipeline.transforms import evidence
from wireloom.pipeline.transforms.fates import TABLE as FATES
from wireloom.pipeline.transforms.fates import fates
from wireloom.pipeline.transforms.messages import TABLE as MESSAGES
from wireloom.pipeline.transforms.messages import messages
from wireloom.pipeline.transforms.nodes import TABLE as NODES
from wireloom.pipeline.transforms.nodes import joined, nodes, parts
from wireloom.wire.outcome import Auth, Fate

CHANGED: Final = "changed"
"""Counts the slices up to which a node's part changed."""

FOLLOWED: Final = (NODES, MESSAGES, FATES)

_COMMON: Final = (
    "sighting",
    "captured_at",
    "node",
    "protocol",
    "link",
    "direction",
    "peer",
    "outcome",
    "outcome_reason",
    "swarm",
    "epoch_ms",
    "size",
    "type",
    "message_id",
    "source",
    "destination",
    "targets",
    "cast",
    "created_ms",
    "expires_ms",
    "priority_rank",
    "hops",
    "reply_to",
    "content",
)
"""What the three transforms look at themselves; the fate rules add what they name."""

_FRESH: Final = (
    "protocol",
    "node",
    "direction",
    "swarm",
    "type",
    "message_id",
    "source",
    "reply_to",
    "content",
)
"""What is to be known of a new row: which messages it touches, and what part its node plays."""


_FOR_FEW: Final = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""One partition, plans that are not changed on the way, and no code that takes longer to compile
than to run."""

MOST_PARTS: Final = 100_000
"""How many parts are remembered as nothing new."""


def follow(spark: SparkSession, store: TableStore, *, on_table: Callable[[str, int], None]) -> bool:
    """Brings the followed tables up to date with a few new rows.

    Args:
        spark: The session.
        store: The tables.
        on_table: Is called with each table and the rows written after it is committed.

    Returns:
        Whether that was possible; otherwise nothing is done.
    """
    upto = refined(store)
    start = min(store.log.computed(table, APP) for table in FOLLOWED)
    if start < 0 or start < _reached(store) or not frame_tables.few(store, after=start):
        return False
    if start >= upto:
        return True
    fresh = frame_tables.gathered(store, _FRESH, after=start, upto=upto)
    horizon_ms = frame_tables.horizon_ms(store, upto=upto)
    touched = _touched(store, fresh, horizon_ms)
    related = frame_tables.related(store, needed(), touched, upto=upto)
    verdicts = _verdicts(store, fresh, related)
    small = _small(spark)
    known = framed(small, pa.concat_tables([NODES.arrow.empty_table(), *_all(store, NODES)]))
    seen = framed(small, _judged(related, verdicts))
    # Most of the time goes by in planning: side by side they take half of it.
    with ThreadPoolExecutor() as pool:
        rows = {
            FATES: pool.submit(lambda: fates(seen, known, horizon_ms).toArrow()),
            MESSAGES: pool.submit(lambda: messages(seen).toArrow()),
        }
        if _other_parts(store, known, parts(_judged(fresh, verdicts))):
            return False
        store.log.commit(NODES, [], {APP: upto})
        for table in (MESSAGES, FATES):
            chosen = rows[table].result().filter(pc.field("message_id").isin(touched))
            merge(store, table, Removal("message_id", touched), chosen, app=APP, version=upto)
            on_table(table.name, chosen.num_rows)
    return True


@cache
def needed() -> tuple[str, ...]:
    """The columns that the three transforms look at, fields of a struct by their path."""
    named = evidence.columns(frame_tables.frames().arrow.names)
    return (*_COMMON, *(name for name in named if name not in _COMMON))


def _other_parts(store: TableStore, known: DataFrame, played: pa.Table) -> bool:
    """Whether a node plays a part that it had not played before."""
    settled = _settled_parts(store.root, store.log.done(NODES.name, CHANGED))
    rows = list(zip(*[column.to_pylist() for column in played.columns], strict=True))
    if settled.issuperset(rows):
        return False
    if joined(known, nodes(framed(known.sparkSession, played))).exceptAll(known).count():
        return True
    if len(settled) > MOST_PARTS:
        settled.clear()
    settled.update(rows)
    return False


@cache
def _settled_parts(root: str, changed: int) -> set[tuple[str | None, ...]]:  # noqa: ARG001
    """What was looked at since nodes changed last, and changes none of them."""
    return set()


def _reached(store: TableStore) -> int:
    """The last slice that changed more than the messages it has."""
    return max(
        frame_tables.rewritten(store),
        store.log.done(VERDICTS.name, REJUDGED),
        store.log.done(NODES.name, CHANGED),
    )


def _touched(store: TableStore, fresh: pa.Table, horizon_ms: int) -> pa.Array:
    """The messages that new rows are or refer to, and those that are overdue now."""
    ids = [*fresh.column("message_id").chunks, *fresh.column("reply_to").chunks]
    horizon = pa.scalar(horizon_ms * 1000, pa.timestamp("us", "UTC"))
    columns = ["message_id", "state", "deadline"]
    for _, rows in store.holding(FATES, columns, ["state"], pa.array([Fate.IN_FLIGHT.value])):
        waits = pc.equal(rows.column("state"), Fate.IN_FLIGHT.value)
        overdue = pc.and_kleene(waits, pc.less(rows.column("deadline"), horizon))
        ids += rows.column("message_id").filter(overdue).chunks
    return pc.unique(pa.chunked_array(ids, pa.string())).drop_null()


def _verdicts(store: TableStore, *frames: pa.Table) -> pa.Table:
    contents = pa.chunked_array(
        [chunk for part in frames for chunk in part.column("content").chunks], pa.string()
    )
    wanted = pc.unique(contents)
    parts = [VERDICTS.arrow.empty_table()]
    for _, rows in store.holding(VERDICTS, VERDICTS.arrow.names, ["content"], wanted):
        parts.append(rows.filter(pc.is_in(rows.column("content"), value_set=wanted)))
    return pa.concat_tables(parts)


def _judged(frames: pa.Table, verdicts: pa.Table) -> pa.Table:
    """The frames, with `auth`, as `sightings` gives them."""
    keys = [_key(part) for part in (frames, verdicts)]
    places = pc.index_in(keys[0], value_set=keys[1].combine_chunks())
    auth = pc.fill_null(pc.take(verdicts.column("auth"), places), Auth.UNCHECKED.value)
    return frames.append_column("auth", auth)


def _key(rows: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(rows.column("protocol"), rows.column("content"), " ")


def _all(store: TableStore, table: Table) -> list[pa.Table]:
    return [rows.cast(table.arrow) for _, rows in store.scan(table, table.arrow.names)]


@cache
def _small(spark: SparkSession) -> SparkSession:
    """A session for a few rows."""
    small = spark.newSession()
    for name, value in _FOR_FEW.items():
        small.conf.set(name, value)
    return small
