"""`wireloom pipeline`."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support.corpus import counts, generated
from wireloom.cli.main import wireloom


def run(*args: str, path: str | None = None) -> Result:
    env = {"COLUMNS": "140", "TERM": "dumb"} | ({"PATH": path} if path else {})
    return CliRunner().invoke(wireloom, ["pipeline", *args], env=env)


def test_status_of_what_was_run(corpus: Path, tables: Path) -> None:
    assert tables.exists()
    text = run("status", "--data", str(corpus)).stdout
    captured = counts(corpus)["captured"]
    assert f"captured {captured:,}, stored {captured:,}, behind 0" in text


@pytest.mark.parametrize("command", ["run", "watch", "status"])
def test_a_wrong_folder_is_said_in_one_sentence(tmp_path: Path, command: str) -> None:
    result = run(command, "--data", str(tmp_path / "nowhere"))
    assert result.exit_code == 1
    assert "does not exist" in result.stderr


def test_compact_and_vacuum_tell_what_they_did(tmp_path: Path) -> None:
    assert run("compact", "--data", str(tmp_path)).exit_code == 0
    assert run("vacuum", "--data", str(tmp_path), "--hours", "1").exit_code == 0


@pytest.mark.spark
def test_run_and_watch_in_processes_of_their_own(tmp_path: Path) -> None:
    generated(tmp_path, frames=1000, seed=5)
    script = [sys.executable, "-c", "from wireloom.cli.main import main; main()", "pipeline"]
    done = subprocess.run(
        [*script, "run", "--data", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "fates" in done.stdout
    watching = subprocess.Popen(
        [*script, "watch", "--data", str(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(8)
    watching.send_signal(signal.SIGTERM)
    assert watching.wait(timeout=900) == 0
