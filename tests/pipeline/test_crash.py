"""A run that is killed at any moment loses nothing and doubles nothing."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from pyspark.sql import SparkSession

from support.corpus import cut, fates, generated, same_tables, truth
from wireloom.pipeline.run import run
from wireloom.pipeline.spark import Started
from wireloom.pipeline.store import TableStore

KILLS = int(os.environ.get("TEST_KILLS", "4"))
MOMENTS = (1, 2, 2, 3, 4, 5, 9, 20)
"""Commits after which a run is killed: most of them while frames come in, some near the end."""

COMMAND = [sys.executable, "-c", "from wireloom.cli.main import main; main()", "pipeline", "run"]


def commits(tables: Path) -> int:
    """How many there are, of all tables."""
    return len(list(tables.glob("*/_delta_log/*.json")))


def kill_after(process: subprocess.Popen[bytes], count: int, tables: Path) -> bool:
    """Kills a run and its Spark when there are so many commits; false if it ended before."""
    while process.poll() is None:
        if commits(tables) >= count:
            os.killpg(process.pid, signal.SIGKILL)
            return process.wait() == -signal.SIGKILL
        time.sleep(0.005)
    return False


def test_killed_runs_leave_the_tables_of_an_undisturbed_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    corpus = generated(tmp_path / "corpus", frames=1000, seed=11)
    captures = tmp_path / "captures"
    captures.mkdir()
    random = Random(11)
    tables = tmp_path / "tables"
    killed = 0
    for part in cut(corpus / "captures", tmp_path / "parts", KILLS):
        for path in part:
            shutil.copy(path, captures)
        process = subprocess.Popen(
            [*COMMAND, "--data", str(tmp_path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        killed += kill_after(process, commits(tables) + random.choice(MOMENTS), tables)
    run(Started(spark), captures, TableStore(tables))
    run(Started(spark), captures, TableStore(tmp_path / "undisturbed"))
    assert killed > 0
    assert fates(tables) == truth(corpus)
    same_tables(tables, tmp_path / "undisturbed")
