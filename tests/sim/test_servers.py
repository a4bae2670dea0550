"""What servers have in common when they play a part."""

import pytest

from sim import plays
from wireloom.sim.casts.cthun import Broker
from wireloom.sim.casts.signalhub import Hub
from wireloom.sim.play import Play
from wireloom.sim.scenario import Scenario
from wireloom.sim.servers import Server


@pytest.mark.parametrize("role", [Hub, Broker])
def test_every_bound_is_a_setting(role: type[Server]) -> None:
    assert set(role.BOUNDS.values()) <= set(role.SETTINGS.__struct_fields__)


@pytest.mark.parametrize("scenario", [plays.hub(), plays.broker()], ids=["hub", "broker"])
def test_every_bounded_and_drained_thing_is_a_gauge(scenario: Scenario) -> None:
    server = Play(scenario, 1).parts[0]
    assert isinstance(server, Server)
    assert server.machine.session is not None
    assert {*server.BOUNDS, *server.DRAINED} <= set(server.machine.session.gauges())


def test_what_a_scenario_sets_holds() -> None:
    server = Play(plays.broker(limits={"held_count": 7, "trust_sender": True}), 1).parts[0]
    assert server.bounds()["queued"] == 7
