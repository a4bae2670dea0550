"""Refine: what signatures and proofs of work say, each distinct content once.

Nothing here depends on the order of arrival: a frame whose key has not come is `unknown_key`
and is judged again when it has. A few new rows are judged on the spot, many by Spark.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from wireloom.pipeline import frame_tables
from wireloom.pipeline.judging import SHARED_ROWS, Assignment, judged_by_workers, stored_by_workers
from wireloom.pipeline.merging import Removal, merge
from wireloom.pipeline.spark import framed
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.verdicts import CHECKED, SCHEMA, WANTED, judge_batches
from wireloom.registry import every
from wireloom.wire.outcome import Auth

APP: Final = "refine"
REJUDGED: Final = "rejudged"
"""Counts the slices up to which a verdict changed that had been given before."""

KEYS: Final = Table(
    "keys",
    "Public keys that the traffic itself announced; a key certifies its owner by its hash.",
    (
        Column("protocol", "string", "Where the key was seen."),
        Column("owner", "string", "Node id or UID, hex."),
        Column("public_key", "string", "Ed25519, hex."),
        Column("first_seen", "timestamp", "When it was first captured.", "UTC"),
    ),
    ("protocol", "owner"),
)

VERDICTS: Final = Table(
    "verdicts",
    "What signature or proof of work says of each distinct content.",
    (
        Column("protocol", "string", "The protocol."),
        Column("content", "string", "As in `frames`."),
        Column("signer", "string", "Who is said to have signed it."),
        Column("auth", "string", "`valid`, `invalid`, `unsigned` or `unknown_key`."),
    ),
    ("protocol", "content"),
)

_OWNERS: Final = {one.name: one.announcement for one in every() if one.announcement is not None}
_KEYS: Final = [(name, *announcement.KEY) for name, announcement in _OWNERS.items()]
"""The columns in which public keys are announced, as paths."""

_ANNOUNCED: Final = ("protocol", "source", "captured_at", *(".".join(path) for path in _KEYS))
_HAS_KEY: Final = reduce(or_, [pc.field(*path).is_valid() for path in _KEYS])
_FRESH: Final = (*_ANNOUNCED, "content", "raw")


class Owner(NamedTuple):
    """Whose key."""

    protocol: str
    name: str


class Key(NamedTuple):
    """A public key, in hex, and when it was first seen."""

    public: str
    first_seen: datetime


def refine(spark: SparkSession, store: TableStore) -> None:
    """Brings `keys` and `verdicts` up to date with the frames."""
    upto = frame_tables.last_slice(store)
    start = store.log.done(VERDICTS.name, APP)
    if start >= upto:
        return
    if start < frame_tables.rewritten(store):
        start = -1
    if frame_tables.few(store, after=start):
        _refine_few(spark, store, start, upto)
    else:
        if frame_tables.count(store, after=start) <= SHARED_ROWS:
            found = _announced_by_few(
                frame_tables.gathered(store, _ANNOUNCED, after=start, upto=upto, where=_HAS_KEY)
            )
        else:
            found = announced(frame_tables.decoded(spark, store, after=start, upto=upto))
        _judge_many(spark, store, _learn(store, found, upto), start, upto)


def _refine_few(spark: SparkSession, store: TableStore, start: int, upto: int) -> None:
    """Judges new rows on the spot, unless a key came that older ones wait for."""
    fresh = frame_tables.gathered(store, _FRESH, after=start, upto=upto)
    waiting = _learn(store, _announced_by_few(fresh), upto)
    if len(waiting):
        _judge_many(spark, store, waiting, start, upto)
        return
    checked = fresh.filter(pc.is_in(fresh.column("protocol"), value_set=pa.array(CHECKED)))
    contents = pc.unique(checked.column("content"))
    known = {
        content
        for _, rows in store.holding(VERDICTS, ["content"], ["content"], contents)
        for content in rows.filter(pc.field("content").isin(contents)).column("content").to_pylist()
    }
    first = {
        content: place
        for place, content in reversed(list(enumerate(checked.column("content").to_pylist())))
        if content not in known
    }
    rows = checked.take(pa.array(sorted(first.values()), pa.int64()))
    rows = rows.select(["protocol", "content", "source", "raw"]).rename_columns(list(WANTED))
    judged = pa.Table.from_batches(
        judge_batches(_public(store))(iter(rows.combine_chunks().to_batches())), schema=SCHEMA
    )
    new = pa.array(first, pa.string())
    merge(store, VERDICTS, Removal("content", new), judged, app=APP, version=upto)


def _judge_many(
    spark: SparkSession, store: TableStore, waiting: pa.Array, start: int, upto: int
) -> None:
    """Judges, by Spark, contents that have no verdict and those that wait for a key."""
    first = -1 if len(waiting) else start
    is_shared = frame_tables.count(store, after=first) <= SHARED_ROWS
    files = frame_tables.since(store, after=first) if is_shared else []
    verdict_files = [(VERDICTS.name, file) for file in store.log.files(VERDICTS.name) if start >= 0]
    assignment = Assignment(store.root, files, verdict_files, start, upto, waiting, _public(store))
    if is_shared and not len(waiting):
        store.files.make(VERDICTS.name)
        paths = stored_by_workers(spark, assignment, VERDICTS.name)
        mode, also = ("append", {}) if start >= 0 else ("overwrite", {REJUDGED: upto})
        store.log.commit(VERDICTS, paths, {APP: upto, **also}, mode=mode)
        return
    again = f.broadcast(framed(spark, pa.table({"content": waiting})))
    settled = _settled(spark, store, again if len(waiting) else None, start)
    if is_shared:
        judged = judged_by_workers(spark, assignment, VERDICTS.schema)
    else:
        frames = frame_tables.decoded(spark, store, after=start, upto=upto)
        if len(waiting):
            waited = frame_tables.decoded(spark, store, upto=upto).join(
                again, "content", "left_semi"
            )
            frames = frames.union(waited.select(frames.columns))
        judged = verdicts(frames, settled, assignment.keys)
    if start < 0 or len(waiting):
        store.replace(VERDICTS, settled.union(judged), app=APP, version=upto, also={REJUDGED: upto})
    else:
        store.append(VERDICTS, judged, app=APP, version=upto)


def _settled(
    spark: SparkSession, store: TableStore, again: DataFrame | None, start: int
) -> DataFrame:
    """The verdicts that stand."""
    if start < 0:
        return spark.createDataFrame([], VERDICTS.schema)
    settled = store.read(spark, VERDICTS)
    if again is None:
        return settled
    return settled.join(again, "content", "left_anti").select(settled.columns)


def announced(frames: DataFrame) -> dict[Owner, Key]:
    """The keys in `frames` that certify themselves.

    Whether a key is its source's is checked on the driver: the JVM does not have every hash, and
    there are few distinct keys.
    """
    rows = (
        frames.selectExpr(
            "protocol",
            "source as owner",
            f"coalesce({', '.join('.'.join(path) for path in _KEYS)}) as public_key",
            "captured_at",
        )
        .where("public_key is not null")
        .groupBy("protocol", "owner", "public_key")
        .agg(f.min("captured_at").alias("first_seen"))
    )
    return _own(rows.toArrow())


def _announced_by_few(frames: pa.Table) -> dict[Owner, Key]:
    public = pc.coalesce(*[pc.struct_field(frames.column(name), within) for name, *within in _KEYS])
    rows = pa.table(
        {
            "protocol": frames.column("protocol"),
            "owner": frames.column("source"),
            "public_key": public,
            "captured_at": frames.column("captured_at"),
        }
    ).filter(public.is_valid())
    grouped = rows.group_by(["protocol", "owner", "public_key"])
    return _own(
        grouped.aggregate([("captured_at", "min")]).rename_columns([c.name for c in KEYS.columns])
    )


def _own(rows: pa.Table) -> dict[Owner, Key]:
    return {
        Owner(protocol, owner): Key(public, seen)
        for protocol, owner, public, seen in zip(
            *[rows.column(c.name).to_pylist() for c in KEYS.columns], strict=True
        )
        if _OWNERS[protocol].owner(bytes.fromhex(public)) == owner
    }


def _learn(store: TableStore, found: dict[Owner, Key], upto: int) -> pa.Array:
    """Keeps the keys that came; gives the contents that waited for one of them."""
    known = _keys(store)
    # After a crash in between, keys may be here already for which nothing was judged yet.
    learnt = store.log.done(KEYS.name, APP) >= upto
    came = known.keys() if learnt else found.keys() - known.keys()
    earlier = {
        owner: key
        for owner, key in found.items()
        if owner not in known or key.first_seen < known[owner].first_seen
    }
    columns = [[*owner, *key] for owner, key in earlier.items()]
    rows = pa.Table.from_pylist(
        [dict(zip(KEYS.arrow.names, row, strict=True)) for row in columns], schema=KEYS.arrow
    )
    names = pa.array([owner.name for owner in earlier], pa.string())
    merge(store, KEYS, Removal("owner", names), rows, app=APP, version=upto)
    return _waiting(store, pa.array([owner.name for owner in came], pa.string()))


def _waiting(store: TableStore, owners: pa.Array) -> pa.Array:
    parts = [pa.array([], pa.string())]
    columns = ["content", "signer", "auth"]
    for _, rows in store.holding(VERDICTS, columns, ["signer"], owners):
        hit = pc.and_(
            pc.equal(rows.column("auth"), Auth.UNKNOWN_KEY.value),
            pc.is_in(rows.column("signer"), value_set=owners),
        )
        parts += rows.column("content").filter(hit).chunks
    return pa.concat_arrays(parts)


def _keys(store: TableStore) -> dict[Owner, Key]:
    return {
        Owner(protocol, owner): Key(public, seen)
        for _, rows in store.scan(KEYS, KEYS.arrow.names)
        for protocol, owner, public, seen in zip(
            *[rows.column(name).to_pylist() for name in KEYS.arrow.names], strict=True
        )
    }


def _public(store: TableStore) -> dict[str, bytes]:
    return {owner.name: bytes.fromhex(key.public) for owner, key in _keys(store).items()}


def verdicts(frames: DataFrame, settled: DataFrame, known: Mapping[str, bytes]) -> DataFrame:
    """What is to be said of the contents in `frames` that are not settled."""
    distinct = (
        frames.where(f.col("protocol").isin(*CHECKED))
        .groupBy("protocol", "content")
        .agg(
            f.min_by("source", "sighting").alias("signer"), f.min_by("raw", "sighting").alias("raw")
        )
    )
    assignment = distinct.join(
        settled.select("protocol", "content"), ["protocol", "content"], "left_anti"
    )
    return assignment.select(*WANTED).mapInArrow(judge_batches(known), VERDICTS.schema)
