"""Delta tables: whole commits, each once, readable by anyone."""

from pathlib import Path

import polars
import pyarrow as pa
from pyspark.sql import SparkSession

from wireloom.pipeline.tables import SMALL_FILE_RECORDS, Column, Store, Table

TABLE = Table(
    "numbers",
    "Numbers.",
    (Column("n", "bigint", "A number."), Column("word", "string", "Its name.")),
    ("n",),
)


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


def test_a_table_that_is_not_there_has_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.open(TABLE.name) is None
    assert store.version(TABLE.name) == -1
    assert store.read(spark, TABLE).collect() == []
    assert store.read(spark, TABLE).columns == ["n", "word"]


def test_a_merge_puts_rows_in_the_place_of_the_touched_ones(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = Store(tmp_path)
    first = pa.table({"n": [1, 2, 3], "word": ["one", "two", "three"]})
    nothing, two = pa.array([], pa.int64()), pa.array([2])
    assert store.merge(TABLE, {"n": nothing}, first, app="app", version=0) == 3
    changed = pa.table({"n": [2, 4], "word": ["zwei", "vier"]})
    assert store.merge(TABLE, {"n": two}, changed, app="app", version=1) == 2
    assert store.merge(TABLE, {"n": two}, changed, app="app", version=1) == 0
    found = {row.n: row.word for row in store.read(spark, TABLE).collect()}
    assert found == {1: "one", 2: "zwei", 3: "three", 4: "vier"}
    assert len(store.files(TABLE.name)) == 1
    files = store.files(TABLE.name)
    assert store.merge(TABLE, {"n": nothing}, first[:0], app="app", version=2) == 0
    assert (store.files(TABLE.name), store.done(TABLE.name, "app")) == (files, 2)


def test_a_merge_leaves_large_files_that_it_does_not_touch(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = Store(tmp_path)
    many = spark.range(SMALL_FILE_RECORDS).selectExpr("id as n", "'x' as word").coalesce(1)
    store.append(TABLE, many, app="app", version=0)
    (large,) = store.files(TABLE.name)
    more = pa.table({"n": [-1], "word": ["less"]})
    store.merge(TABLE, {"n": pa.array([-1])}, more, app="app", version=1)
    assert large in store.files(TABLE.name)
    store.merge(TABLE, {"n": pa.array([7])}, more[:0], app="app", version=2)
    assert large not in store.files(TABLE.name)
    assert store.read(spark, TABLE).count() == SMALL_FILE_RECORDS


def test_the_log_bounds_the_slices_and_times_of_a_file(tables: Path) -> None:
    for file in Store(tables).files("frames"):
        assert (file.first, file.last) == (0, 0)
        assert file.latest is not None


def test_a_root_may_be_a_uri(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(f"file://{tmp_path}/lake")
    rows = spark.createDataFrame([(1, "one")], TABLE.schema)
    store.replace(TABLE, rows, app="app", version=0)
    more = pa.table({"n": [2], "word": ["two"]})
    store.merge(TABLE, {"n": pa.array([2])}, more, app="app", version=1)
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
