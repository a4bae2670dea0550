"""Reading and writing tables."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
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


def numbers(*found: int) -> pa.Table:
    words = [f"number {n}" for n in found]
    return pa.table({"n": found, "word": words}, schema=TABLE.arrow)


def all_rows(store: TableStore) -> list[int]:
    return sorted(n for _, rows in store.scan(TABLE, ["n"]) for n in rows.column("n").to_pylist())


def test_what_is_put_is_all_there_is_and_put_once(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    assert store.put(TABLE, numbers(1, 2), app="app", version=0, also={"other": 7}) == 2
    assert store.put(TABLE, numbers(3), app="app", version=0) == 0
    assert all_rows(store) == [1, 2]
    assert store.log.all_done(TABLE.name, ["app", "other"]) == [0, 7]
    assert store.put(TABLE, numbers(3), app="app", version=1) == 1
    assert all_rows(store) == [3]
    assert store.put(TABLE, numbers(), app="app", version=2) == 0
    assert store.log.files(TABLE.name) == []
    assert store.log.done(TABLE.name, "app") == 2


def test_a_file_that_is_written_is_not_part_of_its_table_yet(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    path = store.written(TABLE, numbers(1, 2))
    assert pq.read_table(tmp_path / TABLE.name / path).num_rows == 2
    assert store.log.open(TABLE.name) is None
    store.log.commit(TABLE, [path], {"app": 0})
    assert all_rows(store) == [1, 2]


@pytest.fixture
def grouped(tmp_path: Path) -> TableStore:
    """A table of two files with two row groups each."""
    store = TableStore(tmp_path)
    store.files.make(TABLE.name)
    for begin in (0, 10):
        path = f"{begin}.parquet"
        with store.files.writer(TABLE.name, path, TABLE.arrow) as writer:
            writer.write_table(numbers(*range(begin, begin + 10)), row_group_size=5)
        store.log.commit(TABLE, [path], {"app": begin})
    return store


def test_rows_are_chosen_by_a_condition(grouped: TableStore) -> None:
    found = pa.concat_tables(
        grouped.choose(TABLE, ["word", "n"], pc.field("n").isin([3, 4, 17]), ["n"])
    )
    assert sorted(found.select(["n", "word"]).to_pydict()["n"]) == [3, 4, 17]
    assert set(found.column("word").to_pylist()) == {"number 3", "number 4", "number 17"}
    assert list(grouped.choose(TABLE, ["word"], pc.field("n") < 0, ["n"])) == []


def test_columns_are_read_from_those_row_groups_only_that_have_such_rows(
    grouped: TableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = pq.ParquetFile.read_row_group
    asked: list[tuple[str, ...]] = []

    def noted(self: pq.ParquetFile, group: int, columns: list[str]) -> pa.Table:
        asked.append(tuple(columns))
        return read(self, group, columns)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", noted)
    (found,) = grouped.choose(TABLE, ["word"], pc.field("n") == 12, ["n"])
    assert found.to_pylist() == [{"n": 12, "word": "number 12"}]
    assert sorted(asked) == [("n",)] * 4 + [("word",)]


def test_a_scan_may_leave_rows_out(grouped: TableStore) -> None:
    found = [rows for _, rows in grouped.scan(TABLE, ["n"], where=pc.field("n") > 17)]
    assert pa.concat_tables(found).column("n").to_pylist() == [18, 19]
