"""The project's scenarios hold with a few seeds; `make sim` plays many more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wireloom.sim.play import Play
from wireloom.sim.scenario import load

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
SEEDS = 3


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_all_invariants_hold(path: Path) -> None:
    scenario = load(path)
    for seed in range(SEEDS):
        assert Play(scenario, seed).run().broken == ()


def test_a_seed_gives_the_same_frames_in_every_process() -> None:
    script = (
        "import sys; from pathlib import Path; from wireloom.sim.play import Play;"
        "from wireloom.sim.scenario import load;"
        "print(Play(load(Path(sys.argv[1])), 5).run().fingerprint)"
    )
    path = str(SCENARIOS[-1])
    prints = {
        subprocess.run(
            [sys.executable, "-c", script, path],
            env={**os.environ, "PYTHONHASHSEED": order},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for order in ("1", "2")
    }
    assert prints == {f"{Play(load(SCENARIOS[-1]), 5).run().fingerprint}\n"}
