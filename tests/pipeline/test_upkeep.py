"""Looking after the tables."""

import shutil
from pathlib import Path

from pyspark.sql import SparkSession

from support.corpus import counts
from wireloom.capture.segment import segments
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.upkeep import compact, status, vacuum


def test_status_counts_what_is_captured_and_stored(corpus: Path, tables: Path) -> None:
    found = status(corpus / "captures", TableStore(tables))
    assert found.captured == counts(corpus)["captured"]
    assert (found.behind, found.damaged, found.passed_over) == (0, [], [])
    assert {one.name: one.rows for one in found.tables}["fates"] > 0


def test_segments_that_were_taken_and_are_gone_leave_nothing_behind(
    corpus: Path, tables: Path, tmp_path: Path
) -> None:
    shutil.copytree(corpus / "captures", tmp_path / "captures")
    gone, cut, *_ = segments(tmp_path / "captures")
    gone.path.unlink()
    gone.sums_path.unlink()
    cut.path.write_bytes(b"")
    cut.sums_path.write_bytes(b"")
    found = status(tmp_path / "captures", TableStore(tables))
    assert found.behind == 0
    assert found.captured < found.stored
    assert [one.name for one in found.passed_over] == [cut.path.name]


def test_status_shows_damage_and_what_is_behind(corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(corpus / "captures", tmp_path / "captures")
    segment = next(segments(tmp_path / "captures"))
    raw = bytearray(segment.path.read_bytes())
    raw[-100] ^= 1
    segment.path.write_bytes(raw)
    found = status(tmp_path / "captures", TableStore(tmp_path / "tables"))
    (damage,) = found.damaged
    assert damage.segment == segment
    assert found.stored == 0
    assert found.behind == counts(corpus)["captured"] - damage.rows
    assert {one.version for one in found.tables} == {-1}


def test_small_files_are_put_together_and_old_ones_go(spark: SparkSession, tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    table = Table("keys", "Keys.", (Column("protocol", "string", "x"),))
    for version in range(3):
        rows = spark.createDataFrame([("dtn",)], table.schema)
        store.append(table, rows, app="a", version=version)
    before = len(list((tmp_path / "keys").rglob("*.parquet")))
    assert compact(store) == {"keys": before - 1}
    assert vacuum(store, hours=0) == {"keys": before}
    assert store.read(spark, table).count() == 3
