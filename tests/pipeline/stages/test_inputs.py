"""What Spark reads for a table: the frames of its types, up to a slice."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.corpus import counts
from wireloom.pipeline import frame_tables
from wireloom.pipeline.derived import DERIVED, Derived
from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.stages.inputs import refined, refused, seen
from wireloom.pipeline.store import TableStore

TRAFFIC = next(one for one in DERIVED if one.table.name == "traffic")
NOBODY = Scope(By.WHOLE)


def looking(scope: Scope) -> Derived:
    """A table that is computed from this."""
    return TRAFFIC._replace(scope=scope)


def test_all_up_to_a_slice_is_given(spark: SparkSession, corpus: Path, tables: Path) -> None:
    store = TableStore(tables)
    assert refined(store) == frame_tables.last_slice(store) == 0
    captured = counts(corpus)
    assert refused(spark, store, TRAFFIC, 0).count() == sum(captured["quarantine"].values())
    sightings = seen(spark, store, looking(Scope(By.WHOLE, looks_at=("sighting",))), 0)
    assert sightings.where("sighting not like '%/%'").count() == sum(captured["frames"].values())


def test_later_slices_are_left_out(spark: SparkSession, tables: Path) -> None:
    store = TableStore(tables)
    assert seen(spark, store, TRAFFIC, -1).count() == 0
    assert refused(spark, store, TRAFFIC, -1).count() == 0


def test_only_the_frames_of_its_types_are_given(spark: SparkSession, tables: Path) -> None:
    store = TableStore(tables)
    scope = Scope(By.WHOLE, looks_at=("auth",), protocol="signalhub", types=("hub:send",))
    found = seen(spark, store, looking(scope), 0)
    kinds = found.select("protocol", "type", "auth").distinct().collect()
    assert [tuple(row) for row in kinds] == [("signalhub", "hub:send", "unchecked")]


@pytest.mark.parametrize(("column", "joins"), [("sighting", False), ("believed", True)])
def test_verdicts_are_joined_where_a_table_looks_at_them(
    spark: SparkSession, tables: Path, column: str, joins: bool
) -> None:
    found = seen(spark, TableStore(tables), looking(Scope(By.WHOLE, looks_at=(column,))), 0)
    assert column in found.columns
    assert ("auth" in found.columns) is joins


def test_only_the_wanted_fields_are_read(spark: SparkSession, tables: Path) -> None:
    scope = Scope(By.WHOLE, looks_at=("dtn.payload.latency_ms",))
    found = seen(spark, TableStore(tables), looking(scope), 0)
    assert (
        found.schema["dtn"].dataType.simpleString() == "struct<payload:struct<latency_ms:bigint>>"
    )


def test_a_table_that_looks_at_no_refused_frames_gets_none(
    spark: SparkSession, tables: Path
) -> None:
    assert refused(spark, TableStore(tables), looking(NOBODY), 0).count() == 0
