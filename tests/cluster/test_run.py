"""The pipeline on a cluster makes the tables that it makes on one machine."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.clusters import ENVIRONMENT, Cluster, command
from support.corpus import cut_at, fates, same_tables, truth
from wireloom.pipeline.run import run
from wireloom.pipeline.store import TableStore

pytestmark = pytest.mark.spark

FIRST = 0.99
"""The share of the frames that the first run finds."""


def ran(*arguments: str) -> str:
    """What a command prints that succeeds."""
    done = subprocess.run(
        command(*arguments), env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[Path]]]:
    """A corpus, and its captures in two parts."""
    folder = tmp_path_factory.mktemp("corpus")
    ran("generate", "--frames", "3000", "--seed", "21", "--data", str(folder))
    return folder, cut_at(folder / "captures", folder / "parts", [FIRST])


@pytest.fixture(scope="module")
def local(parts: tuple[Path, list[list[Path]]], spark: SparkSession) -> Path:
    """The tables that one machine makes of the same captures."""
    folder, _ = parts
    run(spark, folder / "parts", TableStore(folder / "tables"))
    return folder / "tables"


def test_two_runs_on_a_cluster_make_the_tables_of_one_machine(
    standalone: Cluster, parts: tuple[Path, list[list[Path]]], local: Path, tmp_path: Path
) -> None:
    corpus, files = parts
    (tmp_path / "captures").mkdir()
    for part in files:
        for path in part:
            shutil.copy(path, tmp_path / "captures")
        ran("pipeline", "run", "--data", str(tmp_path), *standalone.options)
    assert fates(tmp_path / "tables") == truth(corpus)
    same_tables(tmp_path / "tables", local)
    report = json.loads(ran("report", "--json", "--data", str(tmp_path)))
    assert report == json.loads(ran("report", "--json", "--data", str(corpus)))


@pytest.fixture
def complete(standalone: Cluster) -> Iterator[Cluster]:
    """The cluster, which has all its workers again afterwards."""
    yield standalone
    standalone.fill()


def test_a_worker_that_is_killed_during_a_run_costs_no_frame(
    complete: Cluster, parts: tuple[Path, list[list[Path]]], local: Path, tmp_path: Path
) -> None:
    corpus, _ = parts
    (tmp_path / "captures").symlink_to(corpus / "parts")
    again = command("pipeline", "run", "--data", str(tmp_path), *complete.options)
    running = subprocess.Popen(again, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    assert any(line.startswith("ingest") for line in running.stderr)
    complete.kill_worker()
    said = running.stderr.read()
    if running.wait() != 0:
        assert said.splitlines()[-1].startswith("Error: "), said
        ran(*again[3:])
    assert fates(tmp_path / "tables") == truth(corpus)
    same_tables(tmp_path / "tables", local)
