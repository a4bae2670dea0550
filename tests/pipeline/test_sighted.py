"""Sightings in this process are those that Spark reads, with the same word on their proofs."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from wireloom.pipeline import frame_tables, sighted
from wireloom.pipeline.derived import DERIVED, Derived
from wireloom.pipeline.judged_tables import VERDICTS
from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.sighted import Sighted, of_frames, of_types
from wireloom.pipeline.stages import inputs
from wireloom.pipeline.store import TableStore

MANY = 1_000_000
COLUMNS = ("sighting", "type", "auth", "believed")


@pytest.fixture(scope="module")
def store(tables: Path) -> TableStore:
    return TableStore(tables)


@pytest.fixture(scope="module")
def every(spark: SparkSession, store: TableStore) -> dict[str, dict[str, Any]]:
    """All sightings as Spark reads them."""
    scope = Scope(By.WHOLE, looks_at=(*COLUMNS, "protocol", "content", "message_id"))
    derived = DERIVED[0]._replace(scope=scope)
    rows = inputs.seen(spark, store, derived, 0).toArrow().to_pylist()
    return {row["sighting"]: row for row in rows}


def told(rows: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(
        (row["sighting"], row["type"], row["auth"], row["believed"]) for row in rows.to_pylist()
    )


def expected(every: dict[str, dict[str, Any]], **wanted: object) -> list[tuple[Any, ...]]:
    return sorted(
        (row["sighting"], row["type"], row["auth"], row["believed"])
        for row in every.values()
        if all(row[name] == value for name, value in wanted.items())
    )


def test_all_come_with_what_their_proofs_say(
    store: TableStore, every: dict[str, dict[str, Any]]
) -> None:
    assert len({row["auth"] for row in every.values()}) > 3
    scope = Scope(By.WHOLE, looks_at=COLUMNS)
    assert told(_whole(store, scope)) == expected(every)


@pytest.mark.parametrize("is_few", [True, False], ids=["gathered", "chosen"])
def test_those_of_some_types_are_found_whether_all_are_read_or_not(
    store: TableStore, every: dict[str, dict[str, Any]], is_few: bool
) -> None:
    scope = Scope(By.WHOLE, looks_at=COLUMNS, protocol="myriadmesh", types=("ACK",))
    right = expected(every, protocol="myriadmesh", type="ACK")
    most = MANY if is_few else len(right)
    found = Sighted(store, 0).whole(scope, most)
    assert found is not None
    assert told(found) == right
    assert found.column_names == list(COLUMNS)
    assert Sighted(store, 0).whole(scope, len(right) - 1) is None


def _whole(store: TableStore, scope: Scope) -> pa.Table:
    found = Sighted(store, 0).whole(scope, MANY)
    assert found is not None
    return found


def test_a_table_that_looks_at_none_gets_none(store: TableStore) -> None:
    assert _whole(store, Scope(By.WHOLE)).num_rows == 0


@pytest.mark.parametrize("derived", DERIVED, ids=lambda one: one.table.name)
def test_the_columns_are_those_that_spark_reads(
    spark: SparkSession, store: TableStore, derived: Derived
) -> None:
    if derived.scope.looks_at:
        found = Sighted(store, 0).whole(derived.scope, MANY)
        assert found is not None
        given = inputs.seen(spark, store, derived, 0)
        assert set(found.column_names) <= set(given.columns)


def test_those_with_a_value_are_found(
    store: TableStore, every: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = next(row["content"] for row in every.values() if row["auth"] == "invalid")
    known = Sighted(store, 0)
    values = pa.array([content, "nobody's"])
    right = expected(every, content=content)
    assert told(known.holding(COLUMNS, ["content"], values)) == right
    monkeypatch.setattr(sighted, "MANY_CONTENTS", 0)
    assert told(known.holding(COLUMNS, ["content"], values)) == right
    assert known.holding(COLUMNS, ["content"], pa.array([], pa.string())).num_rows == 0


def test_what_came_after_a_slice_is_fresh(
    store: TableStore, every: dict[str, dict[str, Any]]
) -> None:
    assert told(Sighted(store, 0).fresh(COLUMNS, -1)) == expected(every)
    assert Sighted(store, 0).fresh(COLUMNS, 0).num_rows == 0
    assert Sighted(store, -1).fresh(COLUMNS, -1).num_rows == 0


def test_verdicts_are_read_only_where_somebody_asks_for_them(
    store: TableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Sighted, "_verdicts", refuse)
    assert Sighted(store, 0).fresh(["sighting", "type"], -1).num_rows > 0


def test_the_horizon_is_the_latest_capture_of_all(spark: SparkSession, store: TableStore) -> None:
    tables = frame_tables.frames(), frame_tables.quarantine()
    latest = [
        store.read(spark, table).selectExpr("max(unix_millis(captured_at)) as ms").collect()[0].ms
        for table in tables
    ]
    assert Sighted(store, 0).horizon_ms == max(latest)
    assert Sighted(store, -1).horizon_ms == 0


def test_refused_frames_are_found(spark: SparkSession, store: TableStore) -> None:
    count = store.read(spark, frame_tables.quarantine()).count()
    assert Sighted(store, 0).refused(["sighting", "reason"]).num_rows == count
    assert Sighted(store, 0).refused(["sighting"], after=0).num_rows == 0


def test_what_is_judged_is_looked_up_by_protocol_and_content() -> None:
    assert of_frames(["node", "type"]) == ["node", "type"]
    assert of_frames(["auth", "content"]) == ["content", "protocol"]
    assert VERDICTS.key == ("protocol", "content")


def test_rows_are_chosen_by_protocol_and_types() -> None:
    rows = pa.table({"protocol": ["a", "a", "b"], "type": ["x", "y", "x"]})
    assert of_types(rows, None, ()).num_rows == 3
    assert of_types(rows, "a", ()).num_rows == 2
    assert of_types(rows, "a", ("x",)).num_rows == 1
    assert of_types(rows, None, ("x",)).num_rows == 2
