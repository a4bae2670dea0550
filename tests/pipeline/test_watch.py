"""Watching: the tables follow the captures until somebody says that it is enough."""

from pathlib import Path
from threading import active_count

import pytest
from pyspark.sql import SparkSession

from support.corpus import generated, same_tables
from support.letters import ack, connect, send, uuid
from wireloom.capture.frame import CapturedFrame
from wireloom.capture.writer import CaptureWriter
from wireloom.lake import Lake
from wireloom.pipeline import watch as watching
from wireloom.pipeline.derived import DERIVED
from wireloom.pipeline.progress import Progress
from wireloom.pipeline.run import run
from wireloom.pipeline.scopes import By
from wireloom.pipeline.spark import Started
from wireloom.pipeline.stages.inputs import APP, refined
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.watch import FOLLOWING, WHOLE, watch


def write(folder: Path, *frames: CapturedFrame) -> None:
    with CaptureWriter(folder / "captures", frames[0].node) as writer:
        for frame in frames:
            writer.append(frame)


def done(store: TableStore, slices: int) -> bool:
    """Whether all tables have so many slices."""
    return refined(store) == slices - 1 and all(
        store.log.computed(one.table, APP) >= slices - 1 for one in DERIVED
    )


def test_every_table_has_its_turn() -> None:
    assert {*FOLLOWING, *WHOLE} == set(DERIVED)
    assert all(one.scope.by is By.WHOLE for one in WHOLE)
    assert set(FOLLOWING).isdisjoint(WHOLE)


def test_watching_gives_the_tables_of_one_run(spark: SparkSession, tmp_path: Path) -> None:
    corpus = generated(tmp_path, frames=300, seed=3)
    run(Started(spark), corpus / "captures", TableStore(corpus / "tables"))
    store = TableStore(tmp_path / "watched")
    watch(Started(spark), corpus / "captures", store, stopped=lambda: done(store, 1))
    same_tables(corpus / "tables", tmp_path / "watched")


def test_frames_that_come_meanwhile_are_taken(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "POLL_SECONDS", 0.05)
    tables = [one for one in DERIVED if one.table.name in ("nodes", "fates", "hub_topics")]
    monkeypatch.setattr(watching, "FOLLOWING", tables[:2])
    monkeypatch.setattr(watching, "WHOLE", tables[2:])
    store = TableStore(tmp_path / "tables")
    write(tmp_path, connect(), send(10))
    later = iter([[ack(11, 10, at=5)], [send(20, at=6)], [ack(21, 20, at=7)]])
    told: list[str] = []

    def stopped() -> bool:
        """Captures more each time when the tables have all that came."""
        if any(store.log.computed(one.table, APP) < stopped_at[0] for one in tables):
            return False
        frames = next(later, None)
        if frames is None:
            return True
        write(tmp_path, *frames)
        stopped_at[0] += 1
        return False

    stopped_at = [0]
    progress = Progress(table=lambda name, _: told.append(name))
    watch(Started(spark), tmp_path / "captures", store, progress=progress, stopped=stopped)
    rows = Lake(tmp_path / "tables").rows("SELECT message_id, state FROM fates ORDER BY ALL")
    assert [tuple(row.values()) for row in rows] == [
        (uuid(10), "delivered"),
        (uuid(20), "delivered"),
    ]
    assert told.count("fates") == 4
    assert set(told) == {one.table.name for one in tables}


@pytest.mark.parametrize("place", ["Ingestion.run", "refine", "analyse", "tidy"])
def test_a_thread_that_fails_ends_the_watch_with_its_error(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError(place)

    (tmp_path / "captures").mkdir()
    monkeypatch.setattr(f"wireloom.pipeline.watch.{place}", fail)
    before = active_count()
    with pytest.raises(ZeroDivisionError, match=place):
        watch(
            Started(spark),
            tmp_path / "captures",
            TableStore(tmp_path / "tables"),
            stopped=lambda: False,
        )
    assert active_count() == before


def test_it_stops_after_the_turns_that_are_under_way(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "captures").mkdir()
    turns = []
    monkeypatch.setattr(watching, "IDLE_SECONDS", 60)
    monkeypatch.setattr(watching, "POLL_SECONDS", 60)
    monkeypatch.setattr(watching, "refine", lambda *_: turns.append("refine"))
    store = TableStore(tmp_path / "tables")
    watch(Started(spark), tmp_path / "captures", store, stopped=lambda: True)
    assert turns == ["refine"]
