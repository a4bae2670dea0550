"""Every table says what it is computed from, and says no more."""

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from wireloom.pipeline import frame_tables
from wireloom.pipeline.catalogue import all_tables
from wireloom.pipeline.derived import DERIVED, Derived, Inputs
from wireloom.pipeline.judged_tables import KEYS
from wireloom.pipeline.paths import projected
from wireloom.pipeline.scopes import By
from wireloom.pipeline.spark import for_few
from wireloom.registry import NAMES

JUDGED = [pa.field("auth", pa.string()), pa.field("believed", pa.bool_())]
SIGHTINGS = pa.schema([*frame_tables.frames().arrow, *JUDGED])


def ids(derived: Derived) -> str:
    return derived.table.name


def resolves(spark: SparkSession, derived: Derived, paths: list[str]) -> bool:
    """Whether a transform can be analysed with these columns of sightings alone."""

    def empty(schema: pa.Schema) -> DataFrame:
        return for_few(spark).createDataFrame(schema.empty_table())

    seen, refused = SIGHTINGS, frame_tables.quarantine().arrow
    inputs = Inputs(
        empty(projected(seen, paths)),
        empty(projected(refused, derived.scope.refused)),
        0,
        lambda table: empty(table.arrow),
    )
    try:
        derived.compute(inputs).select(derived.table.arrow.names)
    except AnalysisException:
        return False
    return True


@pytest.mark.parametrize("derived", DERIVED, ids=ids)
def test_a_table_looks_at_the_columns_that_it_needs_and_at_no_other(
    spark: SparkSession, derived: Derived
) -> None:
    columns = list(dict.fromkeys(derived.scope.looks_at))
    assert resolves(spark, derived, columns)
    # Each takes a second of Spark's time for four columns: those within structs are the ones
    # that are costly to read and easily forgotten.
    needless = [
        path
        for path in columns
        if "." in path and resolves(spark, derived, [one for one in columns if one != path])
    ]
    assert needless == []


def test_every_protocol_has_columns_that_tables_look_at() -> None:
    paths = {path for derived in DERIVED for path in derived.scope.looks_at if "." in path}
    assert {path.partition(".")[0] for path in paths} == set(NAMES)


def test_a_table_comes_after_those_that_it_is_made_of() -> None:
    known = [derived.table for derived in DERIVED]
    for place, derived in enumerate(DERIVED):
        assert set(derived.scope.made_of) <= {KEYS, *known[:place]}


def test_every_derived_table_is_in_the_catalogue_once() -> None:
    names = [derived.table.name for derived in DERIVED]
    assert len(names) == len(set(names))
    assert set(names) <= {table.name for table in all_tables()}


@pytest.mark.parametrize(
    "derived", [one for one in DERIVED if one.scope.by is not By.WHOLE], ids=ids
)
def test_what_is_not_computed_as_a_whole_has_the_column_that_tells_what_is_touched(
    derived: Derived,
) -> None:
    assert derived.scope.by.key in derived.table.arrow.names
    assert not derived.scope.types
    assert not derived.scope.has_horizon


@pytest.mark.parametrize("derived", DERIVED, ids=ids)
def test_only_rows_of_messages_wait_and_only_whole_tables_have_a_horizon(derived: Derived) -> None:
    scope = derived.scope
    if scope.waits is not None:
        assert scope.by is By.MESSAGE
        assert set(scope.waits.columns) <= set(derived.table.arrow.names)
    if scope.mentions:
        assert scope.by is By.MESSAGE
    if scope.types:
        assert scope.by is By.WHOLE
