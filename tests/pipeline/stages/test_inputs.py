"""What the transforms of `analyse` are given."""

from pathlib import Path

from pyspark.sql import SparkSession

from support.corpus import counts
from wireloom.pipeline import frame_tables
from wireloom.pipeline.stages.inputs import inputs, refined
from wireloom.pipeline.store import TableStore


def test_all_up_to_a_slice_is_given(spark: SparkSession, corpus: Path, tables: Path) -> None:
    store = TableStore(tables)
    assert refined(store) == frame_tables.last_slice(store) == 0
    everything = inputs(spark, store, 0)
    captured = counts(corpus)
    assert everything.quarantine.count() == sum(captured["quarantine"].values())
    assert everything.seen.where("sighting not like '%/%'").count() == sum(
        captured["frames"].values()
    )
    both = everything.seen.select("captured_at").union(everything.quarantine.select("captured_at"))
    (latest,) = both.selectExpr("max(unix_millis(captured_at)) as ms").collect()
    assert everything.horizon_ms == latest.ms


def test_later_slices_are_left_out(spark: SparkSession, tables: Path) -> None:
    nothing = inputs(spark, TableStore(tables), -1)
    assert nothing.seen.count() == nothing.quarantine.count() == 0
