"""The project's scenarios hold with a few seeds; `make sim` plays many more."""

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
