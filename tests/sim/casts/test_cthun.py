"""The broker and its agents in a play."""

import pytest

from sim import plays
from wireloom.sim.casts import ROLES
from wireloom.sim.casts.cthun import Agent, Broker
from wireloom.sim.play import Play


def test_both_are_roles() -> None:
    assert (ROLES["broker"], ROLES["agent"]) == (Broker, Agent)


@pytest.mark.parametrize("kind", Agent.ACTS)
def test_whatever_an_agent_does_arrives(kind: str) -> None:
    cast = {
        "broker": {"role": "broker"},
        "agent": {"role": "agent", "count": 3, "traffic": {"rate": 1, "kinds": {kind: 1}}},
    }
    play = Play(plays.broker(faults={}, cast=cast), 1)
    result = play.run()
    assert not result.broken
    messages = list(play.ledger.messages.values())
    if kind == "inventory":
        assert not messages
        return
    late = [one for one in messages if one.at_ns > play.begun_ns + 5_000_000_000]
    assert {len(one.arrived) for one in late} <= ({2, 3} if kind == "everybody" else {1})
    assert all(one.promised for one in late) == (kind == "report")


def test_an_agent_alone_says_nothing_to_nobody() -> None:
    cast = {"broker": {"role": "broker"}, "agent": {"role": "agent", "traffic": {"rate": 1}}}
    play = Play(plays.broker(faults={}, cast=cast), 1)
    assert not play.run().broken
    assert not play.ledger.messages
