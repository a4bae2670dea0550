"""Workers that cannot do a run are refused before it begins, in one sentence."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from support.clusters import ENVIRONMENT, Cluster

pytestmark = pytest.mark.spark

SCRIPT = """
import json, sys
from wireloom.cli.spark import parsed
from wireloom.pipeline.sharing import Place, WorkersError, check_shared
from wireloom.pipeline.spark import session
from wireloom.roots import Root

cases, (_, master, *conf) = json.loads(sys.argv[1]), sys.argv[2:]
spark = session(master=master, settings=parsed(conf[1::2]))
said = []
for captures, tables, python in cases:
    spark.sparkContext.pythonExec = python
    places = Place("captures", Root(captures), False), Place("tables", Root(tables), True)
    try:
        check_shared(spark, places)
        said.append(None)
    except WorkersError as error:
        said.append(str(error))
print(json.dumps(said))
"""
"""Checks several pairs of folders in one session."""


class Checked(NamedTuple):
    """Folders and Pythons that were tried, and what was said of each."""

    folder: Path
    said: dict[str, str | None]


@pytest.fixture(scope="module")
def checked(standalone: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """All cases, in one session: a start takes longer than the checks."""
    folder = tmp_path_factory.mktemp("shared")
    shared, apart, python = folder / "captures", standalone.apart, sys.executable
    for captures in (shared, apart / "captures"):
        captures.mkdir()
    bare = _executable(folder / "bare", f'exec {sys.executable} -S "$@"')
    cases = {
        "shared": (shared, folder / "tables", python),
        "tables apart": (shared, apart / "tables", python),
        "captures apart": (apart / "captures", folder / "tables", python),
        "frozen": (shared, standalone.frozen, python),
        "storage": ("s3://lake/captures", "s3://lake/tables", "./env/bin/python"),
        "bare": (shared, folder / "tables", bare),
        "broken": (shared, folder / "tables", _executable(folder / "broken", "exit 3")),
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, _json([*cases.values()]), *standalone.options],
        env={**ENVIRONMENT, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Checked(folder, dict(zip(cases, json.loads(done.stdout.splitlines()[-1]), strict=True)))


def _json(cases: list[tuple[object, ...]]) -> str:
    return json.dumps(cases, default=str)


def _executable(path: Path, line: str) -> str:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return str(path)


def test_folders_that_are_shared_are_left_as_they_were(checked: Checked) -> None:
    assert checked.said["shared"] is None
    for name in ("captures", "tables"):
        assert list((checked.folder / name).iterdir()) == []


def test_disks_that_are_apart_are_named_with_what_has_to_be_shared(
    standalone: Cluster, checked: Checked
) -> None:
    if not standalone.has_disks:
        pytest.skip("this user may not make a mount namespace (unshare -m), so disks are shared")
    for missed in ("captures", "tables"):
        sentence = str(checked.said[f"{missed} apart"])
        assert f"does not see the driver's {standalone.apart / missed}: the captures (" in sentence
        assert ") and the tables (" in sentence
        assert "such as NFS, or on object storage, with a URL such as s3://" in sentence
        assert "\n" not in sentence
        assert list((standalone.apart / missed).iterdir()) == []
    assert f"may not write to {standalone.frozen}: " in str(checked.said["frozen"])


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        ("storage", "The workers have no Python at ./env/bin/python: set PYSPARK_PYTHON to"),
        ("bare", "The workers' Python has no pyarrow: install wireloom[pipeline] on all"),
        ("broken", "The workers cannot run Python: EOFException occurred while reading"),
    ],
)
def test_workers_that_cannot_run_wireloom_are_told_apart(
    checked: Checked, case: str, sentence: str
) -> None:
    said = str(checked.said[case])
    assert said.startswith(sentence)
    assert "\n" not in said
