"""Delta logs: whole commits, each once, readable by anyone."""

from pathlib import Path

import polars
from pyspark.sql import SparkSession

from support.numbers import TABLE
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Column


def test_a_commit_that_was_made_is_not_made_again(spark: SparkSession, tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    rows = spark.createDataFrame([(1, "one"), (2, "two")], TABLE.schema)
    assert store.log.done(TABLE.name, "app") == -1
    assert store.append(TABLE, rows, app="app", version=0) == 2
    assert store.append(TABLE, rows, app="app", version=0) == 0
    assert store.append(TABLE, rows, app="other", version=0) == 2
    assert store.read(spark, TABLE).count() == 4
    assert store.log.done(TABLE.name, "app") == 0


def test_a_table_with_other_columns_is_computed_anew(spark: SparkSession, tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    other = TABLE._replace(columns=(*TABLE.columns, Column("more", "string", "Of a new version.")))
    rows = spark.createDataFrame([(1, "one")], TABLE.schema)
    assert store.replace(TABLE, rows, app="a", version=5) == 1
    assert (store.log.computed(TABLE, "a"), store.log.computed(other, "a")) == (5, -1)
    more = spark.createDataFrame([(1, "one", "x")], other.schema)
    assert store.replace(other, more, app="a", version=5) == 1
    assert store.log.computed(other, "a") == 5
    assert [row.more for row in store.read(spark, other).collect()] == ["x"]


def test_the_log_bounds_the_slices_and_times_of_a_file(tables: Path) -> None:
    for file in TableStore(tables).log.files("frames"):
        assert (file.first, file.last) == (0, 0)
        assert file.latest is not None


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
