"""The pipeline on a cluster makes the tables that it makes on one machine."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.clusters import ENVIRONMENT, Cluster, command
from support.corpus import cut_at, fates, same_tables, truth
from wireloom.pipeline.run import run
from wireloom.pipeline.spark import Started
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


@pytest.fixture
def complete(standalone: Cluster) -> Iterator[Cluster]:
    """The cluster, which has all its workers again afterwards."""
    yield standalone
    standalone.fill()


def test_a_cluster_makes_the_tables_of_one_machine_also_if_a_worker_is_killed(
    complete: Cluster, spark: SparkSession, tmp_path: Path
) -> None:
    corpus, data = tmp_path / "corpus", tmp_path / "data"
    ran("generate", "--frames", "3000", "--seed", "21", "--data", str(corpus))
    first, rest = cut_at(corpus / "captures", tmp_path / "parts", [FIRST])
    arguments = ("pipeline", "run", "--data", str(data), *complete.options)
    _bring(first, data / "captures")
    ran(*arguments)
    _bring(rest, data / "captures")
    if not _survives_a_kill(complete, *arguments):
        complete.fill()
        ran(*arguments)
    assert fates(data / "tables") == truth(corpus)
    run(Started(spark), data / "captures", TableStore(tmp_path / "local"))
    same_tables(data / "tables", tmp_path / "local")
    reports = [
        ran("report", "--json", "--tables", str(root))
        for root in (data / "tables", tmp_path / "local")
    ]
    assert reports[0] == reports[1]


def _bring(files: list[Path], captures: Path) -> None:
    captures.mkdir(parents=True, exist_ok=True)
    for path in files:
        shutil.copy(path, captures)


def _survives_a_kill(cluster: Cluster, *arguments: str) -> bool:
    """Runs a command and kills a worker meanwhile; a command that fails says why."""
    with subprocess.Popen(
        command(*arguments),
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        assert any(line.startswith("ingest") for line in running.stderr)
        cluster.kill_worker()
        said = running.stderr.read().splitlines()
    assert running.returncode == 0 or said[-1].startswith("Error: "), said
    return running.returncode == 0
