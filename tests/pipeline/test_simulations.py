"""Sweeps on Spark: workers play what this process would, and the table has the last ones."""

from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sim import plays
from wireloom.lake import Lake
from wireloom.pipeline import simulations
from wireloom.pipeline.sharing import Place, WorkersError
from wireloom.pipeline.simulations import SIMULATIONS, sweep
from wireloom.pipeline.spark import Started
from wireloom.pipeline.store import TableStore
from wireloom.roots import Root
from wireloom.sim.scenario import text_of
from wireloom.sim.sweep import Sweep, swept


def planned(folder: Path, name: str, *sets: str, seeds: int = 2) -> Sweep:
    path = folder / f"{name}.toml"
    path.write_text(text_of(plays.hub()))
    return swept(path, sets, seeds)


def stored(store: TableStore) -> list[tuple[object, ...]]:
    rows = Lake(store.root).rows(
        "SELECT scenario, parameters['links.loss'] AS loss, seed FROM simulations ORDER BY ALL"
    )
    return [tuple(row.values()) for row in rows]


def test_a_world_has_every_column_of_the_table(tmp_path: Path) -> None:
    assert set(planned(tmp_path, "hub").play(0)) == set(SIMULATIONS.arrow.names)


def test_workers_play_the_same_worlds_in_their_order(spark: SparkSession, tmp_path: Path) -> None:
    one = planned(tmp_path, "hub", "links.loss=0,0.1")
    found = sweep(Started(spark), TableStore(tmp_path / "tables"), one.play, one.worlds)
    rows = [{**row, "parameters": dict(row["parameters"])} for row in found.to_pylist()]
    assert rows == [one.play(number) for number in range(one.worlds)]


def test_many_worlds_share_tasks_and_are_counted(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulations, "MAX_TASKS", 2)
    monkeypatch.setattr(simulations, "POLL_SECONDS", 0.01)
    one = planned(tmp_path, "hub", seeds=5)
    told: list[int] = []
    store = TableStore(tmp_path / "tables")
    found = sweep(Started(spark), store, one.play, one.worlds, played=told.append)
    assert found["seed"].to_pylist() == [1, 2, 3, 4, 5]
    assert told
    assert set(told) <= {0, 2, 5}


@pytest.mark.parametrize("is_remote", [False, True])
def test_the_last_sweep_of_each_scenario_is_kept(
    spark: SparkSession, tmp_path: Path, bucket: str, *, is_remote: bool
) -> None:
    store = TableStore(f"{bucket}/tables" if is_remote else tmp_path / "tables")
    for one in (
        planned(tmp_path, "first", "links.loss=0,0.1"),
        planned(tmp_path, "other", "links.loss=0", seeds=1),
        planned(tmp_path, "first", "links.loss=0.2", seeds=1),
    ):
        sweep(Started(spark), store, one.play, one.worlds)
    assert stored(store) == [("first", "0.2", 1), ("other", "0", 1)]


class Elsewhere(Started):
    """A session whose workers are said to be other machines."""

    is_local = False


def test_a_cluster_has_to_see_what_worlds_read(spark: SparkSession, tmp_path: Path) -> None:
    store, one = TableStore(tmp_path / "tables"), planned(tmp_path, "hub", seeds=1)
    begin = partial(sweep, Elsewhere(spark), store, one.play, one.worlds)
    gone = Place("contacts", Root(str(tmp_path / "gone")), is_written=False)
    with pytest.raises(WorkersError, match=r"does not see the driver's .*the contacts"):
        begin(needs=[gone])
    assert store.log.version("simulations") == -1
    assert begin(needs=[Place("contacts", Root(str(tmp_path)), is_written=False)]).num_rows == 1
