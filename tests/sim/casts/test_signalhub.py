"""The hub and its clients in a play."""

import pytest

from sim import plays
from wireloom.sim.casts import ROLES
from wireloom.sim.casts.signalhub import Hub, HubClient
from wireloom.sim.play import Play


def test_both_are_roles() -> None:
    assert (ROLES["hub"], ROLES["hub-client"]) == (Hub, HubClient)


@pytest.mark.parametrize("kind", HubClient.ACTS)
def test_whatever_an_actor_does_arrives(kind: str) -> None:
    cast = {
        "hub": {"role": "hub"},
        "actor": {"role": "hub-client", "count": 3, "traffic": {"rate": 1, "kinds": {kind: 1}}},
    }
    play = Play(plays.hub(faults={}, cast=cast), 1)
    result = play.run()
    assert not result.broken
    messages = list(play.ledger.messages.values())
    if kind == "discover":
        assert not messages
        return
    reached = 3 if kind == "publish" else 1
    late = [one for one in messages if one.at_ns > play.begun_ns + 5_000_000_000]
    assert {len(one.arrived) for one in late} == {reached}
    assert all(one.promised == set(one.targets) for one in late) == (kind != "tell")


def test_an_actor_alone_says_nothing_to_nobody() -> None:
    cast = {"hub": {"role": "hub"}, "actor": {"role": "hub-client", "traffic": {"rate": 1}}}
    play = Play(plays.hub(faults={}, cast=cast), 1)
    assert not play.run().broken
    assert not play.ledger.messages
