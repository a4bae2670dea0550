"""`wireloom pipeline`."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support.corpus import counts, fates, generated, truth
from support.letters import send
from wireloom.capture.writer import CaptureWriter
from wireloom.cli.main import wireloom
from wireloom.cli.pipeline import WatchProgress
from wireloom.cli.progress import ProgressLine
from wireloom.pipeline.stages.ingest import IngestedBatch


def run(*args: str, path: str | None = None) -> Result:
    env = {"COLUMNS": "140", "TERM": "dumb"} | ({"PATH": path} if path else {})
    return CliRunner().invoke(wireloom, ["pipeline", *args], env=env)


def test_status_of_what_was_run(corpus: Path, tables: Path) -> None:
    assert tables.exists()
    text = run("status", "--data", str(corpus)).stdout
    captured = counts(corpus)["captured"]
    assert f"captured {captured:,}, stored {captured:,}, behind 0" in text


def test_status_names_what_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "captures").mkdir()
    (tmp_path / "captures" / "a\x1b[2Jcopy.arrow").touch()
    text = run("status", "--data", str(tmp_path)).stdout
    assert "passed over: a\\x1b[2Jcopy.arrow: it is not named like a segment" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("command", ["run", "watch", "status", "reprocess", "compact", "vacuum"])
def test_a_wrong_folder_is_said_in_one_sentence(tmp_path: Path, command: str) -> None:
    result = run(command, "--data", str(tmp_path / "nowhere"))
    assert result.exit_code == 2
    assert "does not exist" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["run", "watch", "reprocess"])
def test_a_setting_that_is_none_is_said_in_one_sentence(tmp_path: Path, command: str) -> None:
    (tmp_path / "captures").mkdir()
    result = run(command, "--data", str(tmp_path), "--conf", "foo")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: --conf foo: a setting is KEY=VALUE")
    assert result.stderr.count("\n") == 1


def test_a_watch_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    watched = WatchProgress(ProgressLine(every_seconds=0))
    watched.progress.batch(IngestedBatch(0, 1_200, 3))
    watched.progress.table("fates", 7)
    first, second = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"1,203 frames, [\d,]+ a second", first)
    assert re.fullmatch(r"1,203 frames, .*; fates brought up to date at \d\d:\d\d:\d\d", second)


def test_compact_and_vacuum_tell_what_they_did(tmp_path: Path) -> None:
    assert run("compact", "--data", str(tmp_path)).exit_code == 0
    assert run("vacuum", "--data", str(tmp_path), "--hours", "1").exit_code == 0


SCRIPT = [sys.executable, "-c", "from wireloom.cli.main import main; main()", "pipeline"]


class Started:
    """A command in a process of its own, and the lines that it writes to standard error."""

    def __init__(self, *args: str) -> None:
        self.process = subprocess.Popen(
            [*SCRIPT, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def read_until(self, begin: str) -> None:
        """Reads lines up to one that begins so."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line.startswith(begin):
                return
        pytest.fail(f"it never said {begin!r}")

    def interrupt(self) -> tuple[int, str]:
        """Ends it as Ctrl-C does; gives its status and what it said then."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=600)
        return self.process.returncode, said


@pytest.mark.spark
def test_run_says_its_stages_stops_goes_on_and_is_watched(tmp_path: Path) -> None:
    generated(tmp_path, frames=1000, seed=5)
    data = ("--data", str(tmp_path))
    running = Started("run", *data)
    running.read_until("ingest: ")
    assert running.interrupt() == (130, "stopped; run again to go on\n")
    done = subprocess.run([*SCRIPT, "run", *data], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "fates" in done.stdout
    stages = [line.partition(":")[0] for line in done.stderr.splitlines()]
    assert stages == ["ingest", "refine", "analyse"]
    assert fates(tmp_path / "tables") == truth(tmp_path)
    watching = Started("watch", *data)
    watching.read_until("watching")
    assert watching.interrupt() == (0, "ending; interrupt once more to end at once\n")


@pytest.mark.spark
@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (
            ["--master", "nope"],
            "Master must either be yarn or start with spark, k8s, or local",
        ),
        (["--conf", "spark.driver.memory=xyz"], "Invalid maximum heap size: -Xmxxyz"),
    ],
)
def test_what_spark_does_not_start_with_is_said_in_one_sentence(
    tmp_path: Path, wish: list[str], said: str
) -> None:
    with CaptureWriter(tmp_path / "captures", "hub-1") as writer:
        writer.append(send(10))
    args = ["run", "--data", str(tmp_path), *wish]
    done = subprocess.run([*SCRIPT, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"Error: Spark did not start: {said}"
    assert "Traceback" not in done.stderr


def test_without_anything_new_spark_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "captures").mkdir()
    args = ["run", "--data", str(tmp_path), "--master", "nope"]
    done = subprocess.run([*SCRIPT, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
