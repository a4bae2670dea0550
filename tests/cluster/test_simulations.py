"""A sweep on a cluster: its workers play what this process would."""

import subprocess
from pathlib import Path

import pytest

from sim import plays
from support.clusters import ENVIRONMENT, Cluster, command
from wireloom.lake import Lake
from wireloom.sim.play import Play
from wireloom.sim.scenario import load, text_of

pytestmark = pytest.mark.spark


def test_worlds_with_contacts_are_played_by_workers_elsewhere(
    standalone: Cluster, tmp_path: Path
) -> None:
    path = tmp_path / "hub.toml"
    path.write_text(text_of(plays.hub(mobility={"contacts": "near"})))
    (tmp_path / "near").write_text("1 CONN 0 1 up\n20 CONN 0 2 up\n")
    words = ("simulate", "sweep", path.name, "--seeds", "3", "--data", "data")
    done = subprocess.run(
        command(*words, *standalone.options),
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = Lake(tmp_path / "data" / "tables").rows("SELECT seed, fingerprint FROM simulations")
    assert {row["seed"]: row["fingerprint"] for row in rows} == {
        seed: Play(load(path), seed).run().fingerprint for seed in (1, 2, 3)
    }
