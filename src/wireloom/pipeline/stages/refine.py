"""Refine: from sightings to messages, with what signatures and proofs of work say.

Nothing here depends on the order of arrival: a frame whose key has not come is `unknown_key`
and is judged again when it has.
"""

from typing import Final

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f

from wireloom.pipeline import declared
from wireloom.pipeline.tables import Column, Store, Table
from wireloom.pipeline.verdicts import CHECKED, judge_batches
from wireloom.protocols.myriadmesh.integrity import node_id
from wireloom.wire.outcome import Auth

APP: Final = "refine"

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
        Column("auth", "string", "`valid`, `invalid`, `unsigned` or `unknown_key`."),
    ),
    ("protocol", "content"),
)


def refine(spark: SparkSession, store: Store) -> None:
    """Brings `keys` and `verdicts` up to date with `frames`."""
    version = declared.version(store)
    if store.done(VERDICTS.name, APP) >= version:
        return
    frames = declared.decoded(spark, store)
    found = keys(frames)
    store.replace(KEYS, found, app=APP, version=version)
    store.replace(VERDICTS, verdicts(store, frames, spark), app=APP, version=version)


def keys(frames: DataFrame) -> DataFrame:
    """The keys in `frames` that certify themselves.

    A bundle's source is the hash of its key by decoding. That of a DISCOVERY is checked here,
    on the driver: the JVM has no BLAKE2b, and there are few distinct keys.
    """
    announced = (
        frames.selectExpr(
            "protocol",
            "source as owner",
            "coalesce(dtn.header.src_pub, myriadmesh.payload.public_key) as public_key",
            "captured_at",
        )
        .where("public_key is not null")
        .groupBy("protocol", "owner", "public_key")
        .agg(f.min("captured_at").alias("first_seen"))
    )
    own = [row for row in announced.collect() if row.protocol == "dtn" or _owns(row)]
    return frames.sparkSession.createDataFrame(own, KEYS.schema)


def verdicts(store: Store, frames: DataFrame, spark: SparkSession) -> DataFrame:
    """Old verdicts that stand, and those of contents that had none or waited for a key."""
    settled = store.read(spark, VERDICTS).where(f.col("auth") != Auth.UNKNOWN_KEY.value)
    distinct = (
        frames.where(f.col("protocol").isin(*CHECKED))
        .groupBy("protocol", "content")
        .agg(
            f.min_by("source", "sighting").alias("signer"), f.min_by("raw", "sighting").alias("raw")
        )
    )
    open_ = distinct.join(
        settled.select("protocol", "content"), ["protocol", "content"], "left_anti"
    )
    known = {row.owner: bytes.fromhex(row.public_key) for row in store.read(spark, KEYS).collect()}
    judged = open_.select("protocol", "content", "signer", "raw").mapInArrow(
        judge_batches(known), VERDICTS.schema
    )
    return settled.union(judged)


def _owns(row: Row) -> bool:
    return node_id(bytes.fromhex(row.public_key)).hex() == str(row.owner)
