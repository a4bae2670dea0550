"""Many small files become few, and their rows stay what they are."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from support.letters import send
from support.numbers import TABLE
from wireloom.capture.writer import CaptureWriter
from wireloom.lake import Lake
from wireloom.pipeline import frame_tables
from wireloom.pipeline.spark import Started
from wireloom.pipeline.stages import tidy as tidying
from wireloom.pipeline.stages.ingest import ingest
from wireloom.pipeline.stages.tidy import Sweeper, tidy
from wireloom.pipeline.store import TableStore


def test_many_files_are_put_together(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidying, "MANY_FILES", 3)
    store = TableStore(tmp_path / "tables")
    counts = []
    for number in range(3):
        with CaptureWriter(tmp_path / "captures", f"hub-{number}") as writer:
            writer.append(send(10 + number))
        ingest(Started(spark), tmp_path / "captures", store, on_batch=lambda _: None)
        tidy(store)
        counts.append(len(store.log.files("frames")))
    assert counts == [1, 2, 1]
    (file,) = store.log.files("frames")
    assert (file.rows, file.first, file.last) == (3, 0, 2)
    assert frame_tables.last_slice(store) == 2
    assert frame_tables.horizon_ms(store, upto=1) == frame_tables.horizon_ms(store, upto=2)
    rows = Lake(tmp_path / "tables").rows("SELECT message_id FROM frames")
    assert len({row["message_id"] for row in rows}) == 3


def test_no_tables_need_no_tidying(tmp_path: Path) -> None:
    tidy(TableStore(tmp_path / "tables"))


def test_files_that_were_replaced_are_deleted_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidying, "KEPT_HOURS", 0)
    store = TableStore(tmp_path)
    for version, word in enumerate(("one", "two")):
        store.put(TABLE, pa.table({"n": [1], "word": [word]}), app="app", version=version)
    now = [0.0]
    sweeper = Sweeper(store, lambda: now[0])
    sweeper.sweep([TABLE.name, "nowhere"])
    assert len(list((tmp_path / TABLE.name).glob("*.parquet"))) == 2, "it is not time"
    now[0] = tidying.SWEEP_SECONDS
    sweeper.sweep([TABLE.name, "nowhere"])
    (left,) = (tmp_path / TABLE.name).glob("*.parquet")
    assert left.name == store.log.files(TABLE.name)[0].path


def test_a_log_goes_back_a_day(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    store.put(TABLE, pa.table({"n": [1], "word": ["one"]}), app="app", version=0)
    opened = store.log.open(TABLE.name)
    assert opened is not None
    assert opened.metadata().configuration["delta.logRetentionDuration"] == "interval 1 days"
