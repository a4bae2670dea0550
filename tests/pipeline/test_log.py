"""Delta logs: whole commits, each once, readable by anyone."""

from datetime import UTC, datetime
from pathlib import Path

import polars
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from pyspark.sql import SparkSession

from support.numbers import TABLE
from wireloom.pipeline import log as logs
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Column, Table

TIMED = Table(
    "timed",
    "What was captured in some slices.",
    (
        Column("slice", "bigint", "The slice."),
        Column("captured_at", "timestamp", "When.", "UTC"),
    ),
)


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
        assert file.earliest is not None
        assert file.latest is not None
        assert file.earliest < file.latest


@pytest.mark.parametrize("is_new", [False, True], ids=["this process", "another one"])
def test_bounds_are_those_of_the_rows_to_the_millisecond(tmp_path: Path, is_new: bool) -> None:
    store = TableStore(tmp_path)
    times = [datetime(2026, 1, 2, 3, 4, 5, micros, UTC) for micros in (6_000, 7_000, 8_999)]
    rows = pa.table({"slice": [4, 9, 5], "captured_at": times}).cast(TIMED.arrow)
    store.log.commit(TIMED, [store.written(TIMED, rows)], {"app": 9})
    (file,) = (TableStore(tmp_path) if is_new else store).log.files("timed")
    assert (file.rows, file.first, file.last) == (3, 4, 9)
    assert file.earliest == times[0]
    assert file.latest == times[2].replace(microsecond=8_000)


def test_several_applications_are_asked_for_at_once(tmp_path: Path) -> None:
    log = TableStore(tmp_path).log
    assert log.all_done(TABLE.name, ["a", "b"]) == [-1, -1]
    assert log.all_done(TABLE.name, []) == []
    log.commit(TABLE, [], {"a": 3, "b": 0})
    log.commit(TABLE, [], {"a": 4})
    assert log.all_done(TABLE.name, ["b", "nobody", "a"]) == [0, -1, 4]
    assert log.done(TABLE.name, "a") == 4


def test_rows_are_counted_without_reading_them(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    assert store.log.rows(TABLE.name) == 0
    for count in (2, 3):
        rows = pa.table({"n": range(count), "word": ["w"] * count}, schema=TABLE.arrow)
        store.log.commit(TABLE, [store.written(TABLE, rows)], {"app": count})
    assert store.log.rows(TABLE.name) == 5
    store.log.commit(
        TABLE,
        [],
        {"app": 4},
        removed=[file for file in store.log.files(TABLE.name) if file.rows == 2],
    )
    assert store.log.rows(TABLE.name) == 3


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


def test_a_table_is_read_on_when_somebody_else_has_committed(tmp_path: Path) -> None:
    ours, theirs = TableStore(tmp_path).log, TableStore(tmp_path).log
    for version in range(12):
        theirs.commit(TABLE, [], {"a": version})
        assert ours.done(TABLE.name, "a") == version


def test_without_a_next_commit_the_log_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = TableStore(tmp_path).log
    log.commit(TABLE, [], {"a": 1})
    assert log.done(TABLE.name, "a") == 1
    looks: list[str] = []
    monkeypatch.setattr(DeltaTable, "update_incremental", lambda _: looks.append("again"))
    assert log.done(TABLE.name, "a") == 1
    assert looks == []
    monkeypatch.setattr(logs, "KEPT_SECONDS", 0.0)
    assert log.done(TABLE.name, "a") == 1
    assert looks == ["again"]


def test_a_commit_that_fails_because_of_itself_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, commit = TableStore(tmp_path).log, DeltaTable.create_write_transaction

    def lose_the_answer(table: DeltaTable, *args: object, **kwargs: object) -> None:
        commit(table, *args, **kwargs)  # type: ignore[arg-type]
        commit(table, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(DeltaTable, "create_write_transaction", lose_the_answer)
    for version in range(3):
        log.commit(TABLE, [], {"a": version})
        assert log.done(TABLE.name, "a") == version
    assert log.version(TABLE.name) == 3


def test_a_commit_that_fails_because_of_another_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = (TableStore(tmp_path).log for _ in range(2))
    ours.commit(TABLE, [], {"a": 0})
    assert ours.done(TABLE.name, "a") == 0
    theirs.commit(TABLE, [], {"a": 1})
    monkeypatch.setattr(DeltaTable, "update_incremental", lambda _: None)
    with pytest.raises(CommitFailedError):
        ours.commit(TABLE, [], {"a": 1})
