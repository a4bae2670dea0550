"""How many frames a second does the simulator play, with every invariant checked?

The scenarios are the project's, with ten times the machines and nobody joining late.
"""

from pathlib import Path
from time import perf_counter
from typing import Final

from timing import Figure
from wireloom.sim.play import Play
from wireloom.sim.scenario import load

SCENARIOS: Final = Path(__file__).parents[1] / "scenarios"
CROWDS: Final = {
    "hub-flapping": ("cast.actor.count=120", "cast.actor.traffic.rate=0.2"),
    "broker-agents": ("cast.agent.count=120", "cast.agent.traffic.rate=0.2"),
}


def measure() -> list[Figure]:
    """The figures."""
    return [_figure(name, changes) for name, changes in CROWDS.items()]


def _figure(name: str, changes: tuple[str, ...]) -> Figure:
    play = Play(load(SCENARIOS / f"{name}.toml", changes), 1)
    begun = perf_counter()
    result = play.run()
    took = perf_counter() - begun
    assert not result.broken, result.broken[0].words
    ours = f"{result.frames / took:,.0f} frames/s"
    question = f"simulator, {name}, {len(play.parts)} machines"
    return Figure(question, ours, "its own time", result.seconds / took, None)
