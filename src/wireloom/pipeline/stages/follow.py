"""Following: the tables that one waits for, brought up to date with a few new rows.

`nodes`, `messages` and `fates` change only where new rows touch them: the messages that they
are or refer to, and those whose deadline has passed. All frames that mention one of these are
gathered, the same transforms run on them alone, and their rows are put in the place of the old
ones. What reaches further (a node plays a new part, an old verdict changed, frames were decoded
anew, or much came at once) is computed from everything.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from wireloom.pipeline import declared
from wireloom.pipeline.stages.given import APP, refined
from wireloom.pipeline.stages.refine import REJUDGED, VERDICTS
from wireloom.pipeline.tables import Store, Table
from wireloom.pipeline.transforms.fates import TABLE as FATES
from wireloom.pipeline.transforms.fates import fates
from wireloom.pipeline.transforms.messages import TABLE as MESSAGES
from wireloom.pipeline.transforms.messages import messages
from wireloom.pipeline.transforms.nodes import TABLE as NODES
from wireloom.pipeline.transforms.nodes import joined, nodes
from wireloom.wire.outcome import Auth

CHANGED: Final = "changed"
"""Counts the slices up to which a node's part changed."""

FOLLOWED: Final = (NODES, MESSAGES, FATES)

_NEEDED: Final = (
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
    "signalhub.ttl",
    "signalhub.payload.code",
    "signalhub.payload.details",
    "signalhub.payload.status",
    "cthun.data.description",
    "cthun.data.targets",
    "dtn.payload.from_uid",
    "dtn.payload.issued_by_uid",
    "dtn.payload.reason",
    "myriadmesh.payload.ack_type",
    "myriadmesh.payload.error_code",
    "uep12.ttl_epoch",
)
"""What the three transforms look at."""


_PARTS: Final = ("protocol", "node", "direction", "type", "source", "swarm")
"""What a node's part is told by."""


def follow(spark: SparkSession, store: Store, *, told: Callable[[str, int], None]) -> bool:
    """Brings the followed tables up to date with a few new rows.

    Args:
        spark: The session.
        store: The tables.
        told: Is told of each table and the rows written after it is committed.

    Returns:
        Whether that was possible; otherwise nothing is done.
    """
    upto = refined(store)
    start = min(store.done(table.name, APP) for table in FOLLOWED)
    if start < 0 or start < _reached(store) or not declared.few(store, after=start):
        return False
    if start >= upto:
        return True
    fresh = declared.gathered(store, _NEEDED, after=start, upto=upto)
    touched = _touched(store, fresh)
    made = _made(_small(spark), store, fresh, touched, upto)
    if made is None:
        return False
    store.merge(NODES, {"node": touched[:0]}, NODES.arrow.empty_table(), app=APP, version=upto)
    for table, rows in made.items():
        chosen = rows.filter(pc.is_in(rows.column("message_id"), value_set=touched))
        store.merge(table, {"message_id": touched}, chosen, app=APP, version=upto)
        told(table.name, chosen.num_rows)
    return True


def _made(
    spark: SparkSession, store: Store, fresh: pa.Table, touched: pa.Array, upto: int
) -> dict[Table, pa.Table] | None:
    """The new rows of the tables; nothing if a node plays a part that it had not played before."""
    related = declared.related(store, _NEEDED, touched, upto=upto)
    verdicts = _verdicts(store, fresh, related)
    known = spark.createDataFrame(
        pa.concat_tables([NODES.arrow.empty_table(), *_all(store, NODES)])
    )
    news = joined(known, nodes(spark.createDataFrame(_judged(fresh, verdicts, _PARTS)))).exceptAll(
        known
    )
    seen = spark.createDataFrame(_judged(related, verdicts, related.column_names))
    horizon = spark.createDataFrame([(declared.horizon_ms(store),)], "horizon_ms bigint")
    made = {MESSAGES: messages(seen), FATES: fates(seen, known, horizon)}
    # Most of the time goes by in planning: side by side they take half of it.
    with ThreadPoolExecutor() as pool:
        changed = pool.submit(news.count)
        rows = {
            table: pool.submit(frame.select(*table.arrow.names).toArrow)
            for table, frame in made.items()
        }
        if changed.result():
            return None
        return {table: made.result() for table, made in rows.items()}


def _reached(store: Store) -> int:
    """The last slice that changed more than the messages it has."""
    return max(
        declared.rewritten(store),
        store.done(VERDICTS.name, REJUDGED),
        store.done(NODES.name, CHANGED),
    )


def _touched(store: Store, fresh: pa.Table) -> pa.Array:
    """The messages that new rows are or refer to, and those that are overdue now."""
    ids = [*fresh.column("message_id").chunks, *fresh.column("reply_to").chunks]
    horizon = pa.scalar(declared.horizon_ms(store) * 1000, pa.timestamp("us", "UTC"))
    for _, rows in store.scan(FATES, ["message_id", "state", "deadline"]):
        waits = pc.equal(rows.column("state"), "in_flight")
        overdue = pc.and_kleene(waits, pc.less(rows.column("deadline"), horizon))
        ids += rows.column("message_id").filter(overdue).chunks
    return pc.unique(pa.chunked_array(ids, pa.string())).drop_null()


def _verdicts(store: Store, *frames: pa.Table) -> pa.Table:
    contents = pa.chunked_array(
        [chunk for part in frames for chunk in part.column("content").chunks], pa.string()
    )
    wanted = pc.unique(contents)
    parts = [VERDICTS.arrow.empty_table()]
    for _, rows in store.scan(VERDICTS, VERDICTS.arrow.names):
        parts.append(rows.filter(pc.is_in(rows.column("content"), value_set=wanted)))
    return pa.concat_tables(parts)


def _judged(frames: pa.Table, verdicts: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Some columns of the frames, with `auth`, as `sightings` gives them."""
    keys = [_key(part) for part in (frames, verdicts)]
    places = pc.index_in(keys[0], value_set=keys[1].combine_chunks())
    auth = pc.fill_null(pc.take(verdicts.column("auth"), places), Auth.UNCHECKED.value)
    return frames.select(columns).append_column("auth", auth)


def _key(rows: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(rows.column("protocol"), rows.column("content"), " ")


def _all(store: Store, table: Table) -> list[pa.Table]:
    return [rows.cast(table.arrow) for _, rows in store.scan(table, table.arrow.names)]


@cache
def _small(spark: SparkSession) -> SparkSession:
    """A session for a few rows: one partition, and plans that are not changed on the way."""
    small = spark.newSession()
    small.conf.set("spark.sql.shuffle.partitions", "1")
    small.conf.set("spark.sql.adaptive.enabled", "false")
    return small
