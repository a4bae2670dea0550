"""Captures and tables on object storage: what a run and a watch give is what a folder gives."""

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.corpus import fates, generated, same_tables, truth
from support.faults import Faults, Mood
from wireloom.capture.claims import identity_of
from wireloom.capture.segment import segments
from wireloom.live.shipping import Shipper
from wireloom.pipeline import watch as watching
from wireloom.pipeline.derived import DERIVED
from wireloom.pipeline.frame_tables import SLICE
from wireloom.pipeline.progress import Progress
from wireloom.pipeline.run import run
from wireloom.pipeline.spark import Started
from wireloom.pipeline.stages.inputs import APP
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.watch import watch
from wireloom.remote import AnyPath, any_path

WATCHED = [one for one in DERIVED if one.table.name in ("nodes", "fates", "hub_topics")]
"""What the watch brings up to date: each request to a store that is a test takes its time."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated(tmp_path_factory.mktemp("small"), frames=300, seed=5)


@pytest.fixture(scope="module")
def local(spark: SparkSession, small: Path) -> Path:
    run(Started(spark), small / "captures", TableStore(small / "tables"))
    return small / "tables"


def put(captures: Path, folder: AnyPath) -> None:
    """Copies segments."""
    for segment in segments(captures):
        for path in (segment.sums_path, segment.path):
            (folder / path.name).write_bytes(path.read_bytes())


def test_a_run_there_gives_the_tables_of_a_run_here(
    spark: SparkSession, small: Path, local: Path, bucket: str
) -> None:
    put(small / "captures", any_path(f"{bucket}/captures"))
    store = TableStore(f"{bucket}/tables")
    first = run(Started(spark), any_path(f"{bucket}/captures"), store)
    assert first.frames > 0
    again = run(Started(spark), any_path(f"{bucket}/captures"), store)
    assert (again.frames, again.tables) == (0, {})
    same_tables(local, f"{bucket}/tables")


def test_a_run_that_the_store_fails_is_finished_by_the_next(
    spark: SparkSession, small: Path, local: Path, bucket: str, faults: Faults
) -> None:
    put(small / "captures", any_path(f"{bucket}/captures"))
    store = TableStore(f"{bucket}/tables")
    for mood, skip in ((Mood.BUSY, 20), (Mood.DROPPING, 60)):
        faults.fail(mood, skip=skip)
        with pytest.raises(OSError, match=r"\w"):
            run(Started(spark), any_path(f"{bucket}/captures"), store)
        faults.heal()
        store = TableStore(f"{bucket}/tables")
    run(Started(spark), any_path(f"{bucket}/captures"), store)
    same_tables(local, f"{bucket}/tables")


def test_one_pipeline_watches_what_three_nodes_ship(
    spark: SparkSession,
    small: Path,
    bucket: str,
    faults: Faults,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watching, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(watching, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(watching, "FOLLOWING", WATCHED[:2])
    monkeypatch.setattr(watching, "WHOLE", WATCHED[2:])
    target = any_path(f"{bucket}/captures")
    shutil.copytree(small / "captures", tmp_path / "captures")
    machines = iter([("broker", "hub"), ("dtn", "mesh"), ("swarm",)])
    ship(tmp_path / "captures", next(machines), target)
    store = TableStore(f"{bucket}/tables")
    said: list[str] = []

    def stopped() -> bool:
        """Has the next machine ship when the tables have all that came."""
        if not _has_all(store):
            return False
        names = next(machines, None)
        if names is None:
            return True
        ship(tmp_path / "captures", names, target)
        faults.fail(Mood.BUSY, times=40)
        return False

    watch(Started(spark), target, store, progress=Progress(trouble=said.append), stopped=stopped)
    assert said, "the store failed for a while"
    assert fates(f"{bucket}/tables") == truth(small)


def _has_all(store: TableStore) -> bool:
    """Whether all tables have what came; not while the store fails."""
    try:
        came = store.log.done("frames", SLICE)
        return came >= 0 and min(store.log.computed(one.table, APP) for one in WATCHED) >= came
    except OSError:
        return False


def ship(captures: Path, names: tuple[str, ...], target: AnyPath) -> None:
    """Ships the logs of the nodes whose names begin so."""
    logs = {one.node: identity_of(one) for one in segments(captures) if one.node.startswith(names)}
    assert logs
    for node, identity in logs.items():
        assert identity is not None
        shipper = Shipper(captures, node, identity, target)
        shipper.look()
        assert shipper.failure is None
