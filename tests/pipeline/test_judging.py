"""Workers that read the tables themselves say what Spark would, of each content once."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from wireloom.pipeline import frame_tables
from wireloom.pipeline.judged_tables import KEYS, VERDICTS
from wireloom.pipeline.judging import Assignment, judged_by_workers
from wireloom.pipeline.stages.refine import Key, Owner, announced, verdicts
from wireloom.pipeline.store import TableStore

NOBODY = pa.array([], pa.string())


@pytest.fixture
def everything(tables: Path) -> Assignment:
    store = TableStore(tables)
    files = frame_tables.since(store, after=-1)
    return Assignment(
        store.root, files, [], -1, frame_tables.last_slice(store), NOBODY, _keys(store)
    )


def _keys(store: TableStore) -> dict[str, bytes]:
    return {
        row["owner"]: bytes.fromhex(row["public_key"])
        for _, rows in store.scan(KEYS, ["owner", "public_key"])
        for row in rows.to_pylist()
    }


def _told(judged: DataFrame) -> list[tuple[str, ...]]:
    return sorted(
        (row.protocol, row.content, row.signer or "", row.auth) for row in judged.collect()
    )


def test_workers_and_spark_judge_alike(
    spark: SparkSession, tables: Path, everything: Assignment
) -> None:
    by_workers = _told(judged_by_workers(spark, everything, VERDICTS.schema))
    nothing = spark.createDataFrame([], VERDICTS.schema)
    frames = frame_tables.decoded(spark, TableStore(tables))
    assert by_workers == _told(verdicts(frames, nothing, everything.keys, 0))
    assert len(by_workers) == len({row[:2] for row in by_workers})


def test_what_has_a_verdict_is_left_alone_unless_it_waits(
    spark: SparkSession, tables: Path, everything: Assignment
) -> None:
    store = TableStore(tables)
    settled = everything._replace(
        verdicts=[(VERDICTS.name, file) for file in store.log.files(VERDICTS.name)]
    )
    assert judged_by_workers(spark, settled, VERDICTS.schema).count() == 0
    content = store.read(spark, VERDICTS).collect()[0].content
    later = settled._replace(after=settled.upto, waiting=pa.array([content]))
    (row,) = judged_by_workers(spark, later, VERDICTS.schema).collect()
    assert row.content == content


def test_spark_finds_the_keys_that_a_look_at_the_files_finds(
    spark: SparkSession, tables: Path
) -> None:
    store = TableStore(tables)
    known = {
        Owner(row["protocol"], row["owner"]): Key(row["public_key"], row["first_seen"])
        for _, rows in store.scan(KEYS, KEYS.arrow.names)
        for row in rows.to_pylist()
    }
    assert announced(frame_tables.decoded(spark, store)) == known
