"""A failing play made smaller."""

import pytest

from sim import plays
from sim.test_invariants import hub_hands_over_twice
from wireloom.sim.play import Play
from wireloom.sim.shrink import shrunk


def test_what_fails_is_made_smaller_as_long_as_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    hub_hands_over_twice(monkeypatch)
    scenario = plays.hub(links={"delay_ms": 10, "loss": 0.1})
    tried: list[int] = []
    smallest = shrunk(scenario, 1, "once", tried=tried.append)
    assert tried
    assert smallest.seconds < scenario.seconds
    assert smallest.cast["client"].count < scenario.cast["client"].count
    assert smallest.links.loss == 0
    assert len(smallest.cast["client"].traffic.kinds) == 1
    result = Play(smallest, 1).run()
    assert result.broken[0].invariant == "once"


def test_what_does_not_fail_stays() -> None:
    scenario = plays.hub(seconds=60)
    assert shrunk(scenario, 1, "once") == scenario
