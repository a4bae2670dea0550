"""Ingest: each frame exactly once."""

import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from wireloom.capture import writer
from wireloom.capture.frame import CapturedFrame
from wireloom.capture.receipts import Receipts
from wireloom.capture.retention import Bounds, prune
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter
from wireloom.pipeline import frame_tables
from wireloom.pipeline.log import DeltaLog
from wireloom.pipeline.spark import Started
from wireloom.pipeline.stages import ingest as ingesting
from wireloom.pipeline.stages.ingest import IngestedBatch, ingest
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Table
from wireloom.pipeline.upkeep import status
from wireloom.wire.outcome import Direction


def write(folder: Path, raws: list[bytes]) -> None:
    with CaptureWriter(folder, "n") as writer:
        for raw in raws:
            writer.append(
                CapturedFrame(
                    captured_at=1_700_000_000_000_000,
                    node="n",
                    protocol="uep12",
                    link="udp",
                    direction=Direction.IN,
                    raw=raw,
                )
            )


def bring(spark: SparkSession, folder: Path) -> list[IngestedBatch]:
    batches: list[IngestedBatch] = []
    ingest(
        Started(spark),
        folder / "captures",
        TableStore(folder / "tables"),
        on_batch=batches.append,
    )
    return batches


def test_good_and_refused_frames_go_to_their_tables_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(tmp_path / "captures", [bytes.fromhex("792000"), b"nonsense"])
    assert bring(spark, tmp_path) == [IngestedBatch(0, 1, 1)]
    assert bring(spark, tmp_path) == []
    write(tmp_path / "captures", [bytes.fromhex("792000")])
    assert [one[1:] for one in bring(spark, tmp_path)] == [(1, 0)]
    store = TableStore(tmp_path / "tables")
    frames = store.read(spark, frame_tables.frames()).orderBy("sighting").collect()
    assert [row.sighting for row in frames] == ["n#0", "n#2"]
    (refused,) = store.read(spark, frame_tables.quarantine()).collect()
    assert (refused.sighting, refused.reason, bytes(refused.raw)) == (
        "n#1",
        "malformed",
        b"nonsense",
    )


def test_what_is_stored_is_told_to_be_taken(spark: SparkSession, tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    write(captures, [bytes.fromhex("792000")] * 3)
    (segment,) = segments(captures)
    assert not Receipts(captures).cover(segment)
    bring(spark, tmp_path)
    assert Receipts(captures).cover(segment)
    assert len(prune(captures, Bounds(max_bytes=0), now=0.0).deleted) == 1
    write(captures, [bytes.fromhex("792000")] * 2)
    store = TableStore(tmp_path / "tables")
    assert status(captures, store).behind == 2
    assert [one.frames for one in bring(spark, tmp_path)] == [2]
    told = status(captures, store)
    assert (told.captured, told.stored, told.behind) == (2, 5, 0)


def sightings(spark: SparkSession, folder: Path) -> list[str]:
    """Of all frames, refused ones included."""
    store = TableStore(folder / "tables")
    return sorted(
        row.sighting
        for table in (frame_tables.frames(), frame_tables.quarantine())
        for row in store.read(spark, table).select("sighting").collect()
    )


def test_workers_store_what_this_process_stores(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "HERE", 0)
    write(tmp_path / "captures", [bytes.fromhex("792000"), b"nonsense"])
    assert bring(spark, tmp_path) == [IngestedBatch(0, 1, 1)]
    assert sightings(spark, tmp_path) == ["n#0", "n#1"]


@pytest.mark.parametrize("has_it", ["none", "frames", "quarantine"])
def test_a_slice_that_a_crash_left_to_some_tables_is_stored_in_the_others(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_it: str
) -> None:
    write(tmp_path / "captures", [bytes.fromhex("792000"), b"nonsense"])
    bring(spark, tmp_path)
    write(tmp_path / "captures", [bytes.fromhex("792000"), b"more nonsense"])
    commit = DeltaLog.commit

    def crash(self: DeltaLog, table: Table, *args: Any, **more: Any) -> int:
        if has_it == "none" or (has_it == "frames" and table.name == "quarantine"):
            raise KeyboardInterrupt
        if table.name == "batched":
            raise KeyboardInterrupt
        return commit(self, table, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(DeltaLog, "commit", crash)
        with pytest.raises(KeyboardInterrupt):
            bring(spark, tmp_path)
    write(tmp_path / "captures", [bytes.fromhex("792000")])
    bring(spark, tmp_path)
    assert sightings(spark, tmp_path) == [f"n#{number}" for number in range(5)]
    store = TableStore(tmp_path / "tables")
    assert (
        len({store.log.done(one.name, frame_tables.SLICE) for one in frame_tables.ingested()}) == 1
    )


@pytest.mark.parametrize("gone", ["frames", "quarantine", "batched"])
def test_a_table_that_was_deleted_is_made_anew_from_the_captures(
    spark: SparkSession, tmp_path: Path, gone: str
) -> None:
    for _ in range(2):
        write(tmp_path / "captures", [bytes.fromhex("792000"), b"nonsense"])
        bring(spark, tmp_path)
    shutil.rmtree(tmp_path / "tables" / gone)
    bring(spark, tmp_path)
    assert sightings(spark, tmp_path) == [f"n#{number}" for number in range(4)]
    assert bring(spark, tmp_path) == []


@pytest.mark.parametrize("gone", ["segments", "folder"])
def test_frames_of_a_node_whose_captures_were_deleted_are_taken(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    captures = tmp_path / "captures"
    monkeypatch.setattr(writer, "microseconds", lambda: time.time_ns() // 1_000)
    write(captures, [bytes.fromhex("792000")] * 50)
    assert [one.frames for one in bring(spark, tmp_path)] == [50]
    if gone == "folder":
        shutil.rmtree(captures)
    for segment in segments(captures):
        segment.path.unlink()
        segment.sums_path.unlink()
    write(captures, [bytes.fromhex("792000")] * 50)
    assert [one.frames for one in bring(spark, tmp_path)] == [50]
    frames = TableStore(tmp_path / "tables").read(spark, frame_tables.frames())
    assert frames.select("sighting").distinct().count() == 100
