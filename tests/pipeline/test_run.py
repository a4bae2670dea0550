"""The whole pipeline: the books, the truth, and that repetition changes nothing."""

import shutil
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from support.corpus import counts, cut, fates, generated, same_tables, truth
from wireloom.lake import Lake
from wireloom.pipeline import frame_tables
from wireloom.pipeline.catalogue import all_tables
from wireloom.pipeline.run import run
from wireloom.pipeline.spark import Started
from wireloom.pipeline.stages import analyse as analysing
from wireloom.pipeline.stages import ingest as ingesting
from wireloom.pipeline.stages import refine as refining
from wireloom.pipeline.store import TableStore


def test_every_fate_is_the_true_one(corpus: Path, tables: Path) -> None:
    assert fates(tables) == truth(corpus)


def test_the_books_balance(corpus: Path, tables: Path) -> None:
    expected = counts(corpus)
    lake = Lake(tables)
    (stored,) = lake.rows(
        "SELECT (SELECT count(*) FROM frames) AS f, (SELECT count(*) FROM quarantine) AS q"
    )
    assert stored["f"] == sum(expected["frames"].values())
    assert stored["q"] == sum(expected["quarantine"].values())
    assert int(str(stored["f"])) + int(str(stored["q"])) == expected["captured"]


def test_a_second_run_changes_nothing(spark: SparkSession, corpus: Path, tables: Path) -> None:
    store = TableStore(tables)
    before = {table.name: store.log.version(table.name) for table in all_tables()}
    ran = run(Started(spark), corpus / "captures", store)
    assert (ran.frames, ran.quarantine, ran.tables) == (0, 0, {})
    assert {table.name: store.log.version(table.name) for table in all_tables()} == before


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated(tmp_path_factory.mktemp("small"), frames=1000, seed=3)


@pytest.fixture(scope="module")
def whole(spark: SparkSession, small: Path) -> Path:
    run(Started(spark), small / "captures", TableStore(small / "tables"))
    return small / "tables"


def test_ten_slices_in_any_order_give_the_tables_of_one_run(
    spark: SparkSession, small: Path, whole: Path, tmp_path: Path
) -> None:
    parts = cut(small / "captures", tmp_path / "parts", 10)
    Random(3).shuffle(parts)
    arriving = tmp_path / "captures"
    arriving.mkdir()
    store = TableStore(tmp_path / "tables")
    for part in parts:
        for path in part:
            shutil.copy(path, arriving)
        run(Started(spark), arriving, store)
    assert frame_tables.last_slice(store) == 9
    assert fates(tmp_path / "tables") == truth(small)
    same_tables(whole, tmp_path / "tables")


def test_workers_give_the_tables_that_this_process_gives(
    spark: SparkSession, small: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "HERE", 0)
    monkeypatch.setattr(refining, "HERE", 0)
    monkeypatch.setattr(analysing, "FEW", 0)
    run(Started(spark), small / "captures", TableStore(tmp_path))
    same_tables(whole, tmp_path)
