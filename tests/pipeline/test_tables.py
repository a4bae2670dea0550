"""Delta tables: whole commits, each once, readable by anyone."""

from pathlib import Path

import polars
import pyarrow as pa
from pyspark.sql import SparkSession

from support.numbers import TABLE
from wireloom.pipeline.merging import Touched, merge
from wireloom.pipeline.tables import Column, Store


def test_a_commit_that_was_made_is_not_made_again(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(tmp_path)
    rows = spark.createDataFrame([(1, "one"), (2, "two")], TABLE.schema)
    assert store.done(TABLE.name, "app") == -1
    assert store.append(TABLE, rows, app="app", version=0) == 2
    assert store.append(TABLE, rows, app="app", version=0) == 0
    assert store.append(TABLE, rows, app="other", version=0) == 2
    assert store.read(spark, TABLE).count() == 4
    assert store.done(TABLE.name, "app") == 0


def test_replacing_leaves_the_new_rows_only(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(tmp_path)
    for version, rows in enumerate(([(1, "one"), (2, "two")], [(3, "three")], [])):
        frame = spark.createDataFrame(rows, TABLE.schema)
        store.replace(TABLE, frame, app="app", version=version)
        found = [tuple(row) for row in store.read(spark, TABLE).orderBy("n").collect()]
        assert found == rows


def test_a_table_with_other_columns_is_computed_anew(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(tmp_path)
    other = TABLE._replace(columns=(*TABLE.columns, Column("more", "string", "Of a new version.")))
    rows = spark.createDataFrame([(1, "one")], TABLE.schema)
    assert store.replace(TABLE, rows, app="a", version=5) == 1
    assert (store.computed(TABLE, "a"), store.computed(other, "a")) == (5, -1)
    more = spark.createDataFrame([(1, "one", "x")], other.schema)
    assert store.replace(other, more, app="a", version=5) == 1
    assert store.computed(other, "a") == 5
    assert [row.more for row in store.read(spark, other).collect()] == ["x"]


def test_a_table_that_is_not_there_has_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.open(TABLE.name) is None
    assert store.version(TABLE.name) == -1
    assert store.read(spark, TABLE).collect() == []
    assert store.read(spark, TABLE).columns == ["n", "word"]


def test_the_log_bounds_the_slices_and_times_of_a_file(tables: Path) -> None:
    for file in Store(tables).files("frames"):
        assert (file.first, file.last) == (0, 0)
        assert file.latest is not None


def test_a_root_may_be_a_uri(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(f"file://{tmp_path}/lake")
    rows = spark.createDataFrame([(1, "one")], TABLE.schema)
    store.replace(TABLE, rows, app="app", version=0)
    more = pa.table({"n": [2], "word": ["two"]})
    merge(store, TABLE, Touched("n", pa.array([2])), more, app="app", version=1)
    assert store.read(spark, TABLE).count() == 2
    assert (tmp_path / "lake" / TABLE.name / "_delta_log").is_dir()


def test_another_delta_reader_opens_the_tables(tables: Path) -> None:
    fates = polars.read_delta(str(tables / "fates"))
    assert fates.height > 0
    assert set(fates["state"].unique()) <= {
        "delivered",
        "cancelled",
        "rejected",
        "expired",
        "in_flight",
        "lost",
    }
    assert polars.read_delta(str(tables / "frames")).height > 0
