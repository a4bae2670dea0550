"""The whole pipeline: the books, the truth, and that repetition changes nothing."""

import shutil
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from support.corpus import counts, cut, fates, generated, same_tables, truth
from support.letters import send
from wireloom.capture.writer import CaptureWriter
from wireloom.lake import Lake
from wireloom.pipeline import frame_tables
from wireloom.pipeline import run as running
from wireloom.pipeline.catalogue import all_tables
from wireloom.pipeline.run import run
from wireloom.pipeline.spark import Started, Style
from wireloom.pipeline.stages import analyse as analysing
from wireloom.pipeline.stages import ingest as ingesting
from wireloom.pipeline.stages import refine as refining
from wireloom.pipeline.store import TableStore


class Asked(Started):
    """Remembers which styles of Spark were asked for."""

    def __init__(self, session: SparkSession) -> None:
        super().__init__(session)
        self.styles: list[Style] = []

    def begin(self, style: Style) -> None:
        self.styles.append(style)


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
    asked = Asked(spark)
    ran = run(asked, corpus / "captures", store)
    assert (ran.frames, ran.quarantine, ran.tables) == (0, 0, {})
    assert asked.styles == []
    assert {table.name: store.log.version(table.name) for table in all_tables()} == before


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated(tmp_path_factory.mktemp("small"), frames=1000, seed=3)


@pytest.fixture(scope="module")
def whole(spark: SparkSession, small: Path) -> Path:
    run(Started(spark), small / "captures", TableStore(small / "tables"))
    return small / "tables"


@pytest.mark.parametrize(("light", "style"), [(1, Style.LIGHT), (0, Style.FULL)])
def test_for_a_few_rows_a_light_session_is_begun_and_for_many_a_full_one(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    light: int,
    style: Style,
) -> None:
    with CaptureWriter(tmp_path / "captures", "hub-1") as writer:
        writer.append(send(10))
    monkeypatch.setattr(running, "LIGHT", light)
    for stage in ("refine", "analyse"):
        monkeypatch.setattr(running, stage, lambda *_, **__: None)
    asked = Asked(spark)
    run(asked, tmp_path / "captures", TableStore(tmp_path / "tables"))
    assert asked.styles == [style]


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
