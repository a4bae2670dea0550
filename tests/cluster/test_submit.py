"""The pipeline under spark-submit; the workers have nothing but a packed environment."""

import os
import subprocess
import sys
import tarfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from support.clusters import ENVIRONMENT, SETTINGS, SPARK_HOME, Cluster
from support.corpus import fates, generated, truth

ENTRY = Path(__file__).parents[2] / "deploy" / "pipeline.py"
PACKED = os.environ.get("TEST_PACKED")
SUBMIT = str(SPARK_HOME / "bin" / "spark-submit")


@pytest.fixture(scope="module")
def entry() -> ModuleType:
    """The script."""
    spec = spec_from_file_location("entry", ENTRY)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_commands_are_those_of_wireloom_pipeline(entry: ModuleType) -> None:
    assert entry.arguments([]) == ["pipeline"]
    assert entry.arguments(["status", "--data", "x"]) == ["pipeline", "status", "--data", "x"]
    assert entry.arguments(["nonsense"]) == ["pipeline", "nonsense"]


def test_what_spark_submit_is_told_holds_for_the_run(
    entry: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "submitted", lambda: ["--master", "yarn", "--conf", "a=b"])
    assert entry.arguments(["run", "--data", "x"]) == [
        *("pipeline", "run", "--master", "yarn", "--conf", "a=b", "--data", "x")
    ]


@pytest.mark.spark
def test_spark_submit_starts_the_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [SUBMIT, "--master", "local[2]", *SETTINGS, str(ENTRY), "run", "--data", str(tmp_path)],
        env={**ENVIRONMENT, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert (
        "captures does not exist. Capture or import frames first" in done.stdout
    )  # its errors too


@pytest.mark.spark
@pytest.mark.skipif(PACKED is None, reason="`make cluster` packs an environment, and runs this")
def test_workers_take_wireloom_from_the_packed_environment(
    standalone: Cluster, tmp_path: Path
) -> None:
    data = generated(tmp_path / "data", frames=1000, seed=3)
    archive = Path(str(PACKED)).absolute()
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "env", filter="fully_trusted")
    submit = [SUBMIT, "--master", standalone.url, *SETTINGS, "--archives", f"{archive}#env"]
    bare = {key: value for key, value in ENVIRONMENT.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [*submit, str(ENTRY), "run", "--data", str(data)],
        cwd=tmp_path,
        env={**bare, "PYSPARK_PYTHON": "./env/bin/python"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert fates(data / "tables") == truth(data)
