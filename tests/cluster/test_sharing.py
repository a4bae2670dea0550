"""Workers that cannot do a run are refused before it begins, in one sentence."""

import json
import subprocess
import sys
from pathlib import Path

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


def said(cluster: Cluster, *cases: tuple[Path, Path, str]) -> list[str | None]:
    """What is said of captures and tables, and of a Python for the workers."""
    wanted = json.dumps(cases, default=str)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, wanted, *cluster.options],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[str | None] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_disks_that_are_apart_are_named_with_what_has_to_be_shared(
    standalone: Cluster, tmp_path: Path
) -> None:
    if not standalone.has_disks:
        pytest.skip("this user may not make a mount namespace (unshare -m), so disks are shared")
    shared = tmp_path / "captures"
    apart, frozen = standalone.apart, standalone.frozen
    (apart / "captures").mkdir()
    shared.mkdir()
    python = sys.executable
    nothing, tables, captures, written = said(
        standalone,
        (shared, tmp_path / "tables", python),
        (shared, apart / "tables", python),
        (apart / "captures", tmp_path / "tables", python),
        (frozen, frozen, python),
    )
    assert nothing is None
    for sentence, missed in ((tables, apart / "tables"), (captures, apart / "captures")):
        assert sentence is not None
        assert f"does not see the driver's {missed}: the captures (" in sentence
        assert ") and the tables (" in sentence
        assert "such as NFS, or on object storage, with a URL such as s3://" in sentence
        assert "\n" not in sentence
    assert written is not None
    assert f"may not write to {frozen}: " in written
    for folder in (shared, tmp_path / "tables", apart / "tables", apart / "captures", frozen):
        assert list(folder.iterdir()) == []


def test_workers_that_cannot_run_wireloom_are_told_apart(
    standalone: Cluster, tmp_path: Path
) -> None:
    bare = _executable(tmp_path / "bare", f'exec {sys.executable} -S "$@"')
    broken = _executable(tmp_path / "broken", "exit 3")
    places = tmp_path / "captures", tmp_path / "tables"
    lacks, fails, nowhere = said(
        standalone, (*places, bare), (*places, broken), (*places, "./env/bin/python")
    )
    assert str(lacks).startswith("The workers' Python has no pyarrow: install wireloom[pipeline]")
    assert str(fails).startswith("The workers cannot run Python: EOFException occurred while")
    assert "\n" not in str(fails)
    assert str(nowhere).startswith("The workers have no Python at ./env/bin/python: set")


def _executable(path: Path, line: str) -> str:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return str(path)
