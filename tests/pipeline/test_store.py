"""Reading and writing tables."""

from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from support.numbers import TABLE
from wireloom.pipeline.merging import Removal, merge
from wireloom.pipeline.store import TableStore


def test_replacing_leaves_the_new_rows_only(spark: SparkSession, tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    for version, rows in enumerate(([(1, "one"), (2, "two")], [(3, "three")], [])):
        frame = spark.createDataFrame(rows, TABLE.schema)
        store.replace(TABLE, frame, app="app", version=version)
        found = [tuple(row) for row in store.read(spark, TABLE).orderBy("n").collect()]
        assert found == rows


def test_a_table_that_is_not_there_has_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    assert store.log.open(TABLE.name) is None
    assert store.log.version(TABLE.name) == -1
    assert store.read(spark, TABLE).collect() == []
    assert store.read(spark, TABLE).columns == ["n", "word"]


def test_a_root_may_be_a_uri(spark: SparkSession, tmp_path: Path) -> None:
    store = TableStore(f"file://{tmp_path}/lake")
    rows = spark.createDataFrame([(1, "one")], TABLE.schema)
    store.replace(TABLE, rows, app="app", version=0)
    more = pa.table({"n": [2], "word": ["two"]})
    merge(store, TABLE, Removal("n", pa.array([2])), more, app="app", version=1)
    assert store.read(spark, TABLE).count() == 2
    assert (tmp_path / "lake" / TABLE.name / "_delta_log").is_dir()
