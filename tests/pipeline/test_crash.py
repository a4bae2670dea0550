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
MOMENTS = ((0.8, 1.5), (1.2, 2.5), (2, 4), (4, 9))
"""Seconds after the start of a run: while frames are stored and judged, and while tables are."""

COMMAND = [sys.executable, "-c", "from wireloom.cli.main import main; main()", "pipeline", "run"]


def test_killed_runs_leave_the_tables_of_an_undisturbed_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    corpus = generated(tmp_path / "corpus", frames=1000, seed=11)
    captures = tmp_path / "captures"
    captures.mkdir()
    random = Random(11)
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
        time.sleep(random.uniform(*random.choice(MOMENTS)))
        if process.poll() is None:
            killed += 1
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    run(Started(spark), captures, TableStore(tmp_path / "tables"))
    run(Started(spark), captures, TableStore(tmp_path / "undisturbed"))
    assert killed > 0
    assert fates(tmp_path / "tables") == truth(corpus)
    same_tables(tmp_path / "tables", tmp_path / "undisturbed")
