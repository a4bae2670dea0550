"""Workers read and write where Spark does not."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from support.numbers import TABLE
from wireloom.pipeline import scanning
from wireloom.pipeline.paths import projected
from wireloom.pipeline.scanning import Place, read_by_workers, written_by_workers
from wireloom.pipeline.store import TableStore

NESTED = pa.schema(
    [
        ("n", pa.int64()),
        ("more", pa.struct([("a", pa.string()), ("b", pa.struct([("c", pa.int64())]))])),
        ("list", pa.list_(pa.struct([("d", pa.int64())]))),
    ]
)
ROWS = [
    {"n": 1, "more": {"a": "x", "b": {"c": 7}}, "list": [{"d": 1}]},
    {"n": 2, "more": None, "list": []},
]


def test_what_workers_write_they_read_with_the_columns_that_are_wanted(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = Place(str(tmp_path), "nested", (), NESTED)
    paths = written_by_workers(
        spark.createDataFrame(pa.Table.from_pylist(ROWS, schema=NESTED)), place
    )
    whole = place._replace(paths=tuple(paths))
    assert sorted(read_by_workers(spark, whole).toArrow().to_pylist(), key=str) == ROWS
    narrow = whole._replace(schema=projected(NESTED, ["more.b.c", "n"]))
    found = read_by_workers(spark, narrow).toArrow().to_pylist()
    assert {row["n"]: row["more"] for row in found} == {1: {"b": {"c": 7}}, 2: None}


def test_a_file_has_a_bounded_number_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "MAX_FILE_RECORDS", 2)
    batches = [pa.RecordBatch.from_pylist([row], NESTED) for row in ROWS * 2]
    place = Place(str(tmp_path), "nested", (), NESTED)
    found = [row for part in scanning._write(place, iter(batches)) for row in part.to_pylist()]
    assert len(found) == 2
    assert len(list((tmp_path / "nested").iterdir())) == 2


def test_tables_at_a_url_are_read_and_written_by_workers(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = TableStore(f"file://{tmp_path}")
    rows = spark.createDataFrame([(1, "one"), (2, "two")], TABLE.schema)
    assert store.replace(TABLE, rows, app="app", version=0) == 2
    found = store.read(spark, TABLE).orderBy("n").collect()
    assert [tuple(row) for row in found] == [(1, "one"), (2, "two")]
