"""A run that is killed at any moment loses nothing and doubles nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from pyspark.sql import SparkSession

from support.corpus import fates, generated, same_tables, truth
from wireloom.pipeline.run import run
from wireloom.pipeline.tables import Store

KILLS = int(os.environ.get("WIRELOOM_KILLS", "5"))
COMMAND = [sys.executable, "-c", "from wireloom.cli.main import main; main()", "pipeline", "run"]


def test_killed_runs_leave_the_tables_of_an_undisturbed_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    generated(tmp_path, frames=1000, seed=11)
    random = Random(11)
    killed = 0
    for _ in range(KILLS):
        process = subprocess.Popen(
            [*COMMAND, "--data", str(tmp_path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(random.uniform(3, 10))
        killed += process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    run(spark, tmp_path / "captures", Store(tmp_path / "tables"))
    run(spark, tmp_path / "captures", Store(tmp_path / "undisturbed"))
    assert killed > 0
    assert fates(tmp_path / "tables") == truth(tmp_path)
    same_tables(tmp_path / "tables", tmp_path / "undisturbed")
