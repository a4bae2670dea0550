"""Refine: what signatures and proofs of work say, each distinct content once.

Nothing here depends on the order of arrival: a frame whose key has not come is `unknown_key`
and is judged again when it has. A few new rows are judged in this process, many by Spark's workers.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from wireloom.pipeline import frame_tables
from wireloom.pipeline.judged_tables import KEYS, REJUDGED, VERDICTS
from wireloom.pipeline.judging import SHARED_ROWS, Assignment, judged_by_workers, stored_by_workers
from wireloom.pipeline.merging import Removal, merge
from wireloom.pipeline.scopes import CHANGED, REMADE
from wireloom.pipeline.spark import Spark, framed
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.verdicts import (
    CHECKED,
    WANTED,
    WANTED_OF_FRAMES,
    judge_batches,
    judged_beside,
)
from wireloom.registry import every
from wireloom.wire.outcome import Auth

APP: Final = "refine"
HERE: Final = 60_000
"""Up to this number of rows, they are judged here before workers have started."""

_OWNERS: Final = {one.name: one.announcement for one in every() if one.announcement is not None}
_KEYS: Final = [(name, *announcement.KEY) for name, announcement in _OWNERS.items()]
"""The columns in which public keys are announced, as paths."""

_ANNOUNCED: Final = ("protocol", "source", "captured_at", *(".".join(path) for path in _KEYS))
_HAS_KEY: Final = reduce(or_, [pc.field(*path).is_valid() for path in _KEYS])
_IS_CHECKED: Final = pc.field("protocol").isin(CHECKED)


class Owner(NamedTuple):
    """Whose key."""

    protocol: str
    name: str


class Key(NamedTuple):
    """A public key, in hex, and when it was first seen."""

    public: str
    first_seen: datetime


def refine(spark: Spark, store: TableStore) -> None:
    """Brings `keys` and `verdicts` up to date with the frames."""
    upto = frame_tables.last_slice(store)
    start = store.log.done(VERDICTS.name, APP)
    if start >= upto:
        return
    if start < frame_tables.rewritten(store) or store.log.done(KEYS.name, APP) < start:
        start = -1
    count = frame_tables.count(store, after=start)
    if count <= SHARED_ROWS:
        fresh = frame_tables.gathered(store, _ANNOUNCED, after=start, upto=upto, where=_HAS_KEY)
        waiting = _learn(store, _announced_by_few(fresh), upto)
    else:
        frames = frame_tables.decoded(spark.session(), store, after=start, upto=upto)
        waiting = _learn(store, announced(frames), upto)
    if spark.is_local and count + len(waiting) <= HERE:
        _judge_here(store, waiting, start, upto)
    else:
        _judge_many(spark.session(), store, waiting, start, upto)


def _judge_here(store: TableStore, waiting: pa.Array, start: int, upto: int) -> None:
    """Judges contents that have no verdict, and those that wait for a key, in this process."""
    fresh = frame_tables.gathered(
        store, WANTED_OF_FRAMES, after=start, upto=upto, where=_IS_CHECKED
    )
    contents = pc.unique(fresh.column("content")).drop_null()
    open_ = contents if start < 0 else _open(store, contents, waiting)
    waited = frame_tables.holding(store, WANTED_OF_FRAMES, ["content"], waiting, upto=upto)
    rows = _first(pa.concat_tables([fresh, waited.filter(_IS_CHECKED)]), open_)
    judged = judged_beside(rows.rename_columns(list(WANTED)), _public(store), upto)
    also = {REJUDGED: upto} if start < 0 or len(waiting) else {}
    if start < 0:
        store.put(VERDICTS, judged, app=APP, version=upto, also=also)
    else:
        merge(store, VERDICTS, Removal("content", open_), judged, app=APP, version=upto, also=also)


def _open(store: TableStore, contents: pa.Array, waiting: pa.Array) -> pa.Array:
    """Those of some contents that have no verdict, and those that wait."""
    parts = [pa.array([], pa.string())]
    for _, rows in store.holding(VERDICTS, ["content"], ["content"], contents):
        parts += rows.column("content").chunks
    known = pc.is_in(contents, value_set=pa.concat_arrays(parts))
    return pc.unique(pa.concat_arrays([contents.filter(pc.invert(known)), waiting]))


def _first(rows: pa.Table, contents: pa.Array) -> pa.Table:
    """The first row of each of some contents."""
    wanted = rows.filter(pc.is_in(rows.column("content"), value_set=contents))
    codes = wanted.column("content").combine_chunks().dictionary_encode().indices.to_numpy()
    return wanted.take(pa.array(np.sort(np.unique(codes, return_index=True)[1])))


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
        judged = verdicts(frames, settled, assignment.keys, upto)
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
    also = {CHANGED: upto, REMADE: upto} if earlier else {}
    merge(store, KEYS, Removal("owner", names), rows, app=APP, version=upto, also=also)
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


def verdicts(
    frames: DataFrame, settled: DataFrame, known: Mapping[str, bytes], upto: int
) -> DataFrame:
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
    return assignment.select(*WANTED).mapInArrow(judge_batches(known, upto), VERDICTS.schema)
