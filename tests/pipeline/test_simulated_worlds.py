"""The captures of simulated worlds: the books balance, and tell what really became of messages."""

from contextlib import closing
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.corpus import counts, fates, truth
from wireloom.lake import Lake
from wireloom.pipeline.run import run
from wireloom.pipeline.spark import Started
from wireloom.pipeline.store import TableStore
from wireloom.report.books import STATES, books, captured
from wireloom.sim.captures import Captures
from wireloom.sim.play import Play
from wireloom.sim.scenario import load
from wireloom.sim.truth import save

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
SHORT = ("seconds=60", "calm_seconds=20")
"""Long enough for most faults, and not for every message to have a fate."""

SEED = 1


@pytest.fixture(scope="module", params=SCENARIOS, ids=lambda path: path.stem)
def world(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of a world that was played and went through the pipeline."""
    folder = tmp_path_factory.mktemp("world")
    with closing(Captures(folder / "captures", SEED)) as captures:
        play = Play(load(request.param, SHORT), SEED, tap=captures.tap, flush=captures.flush)
        assert play.run().broken == ()
    save(play, folder, captures.horizon_ms)
    run(Started(spark), folder / "captures", TableStore(folder / "tables"))
    return folder


def test_every_fate_is_the_true_one(world: Path) -> None:
    expected = truth(world)
    assert expected
    assert fates(world / "tables") == expected


def test_the_books_balance(world: Path) -> None:
    expected, lake = counts(world), Lake(world / "tables")
    found = books(lake)
    for name, entry in found.items():
        assert entry["sent"] == sum(entry[state] for state in STATES)
        assert {state: entry[state] for state in STATES} == expected["books"][name]
    assert sum(entry["sent"] for entry in found.values()) == len(truth(world))
    assert captured(lake)["captured"] == expected["captured"]
    assert captured(lake)["frames"] == sum(expected["frames"].values())


def test_nodes_refuse_what_the_pipeline_refuses(world: Path) -> None:
    assert Lake(world / "tables").rows("SELECT * FROM disagreements") == []
