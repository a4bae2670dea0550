"""The peers of a swarm in a play."""

from typing import Any

import pytest

from sim import plays
from wireloom.sim.casts import ROLES
from wireloom.sim.casts.uep12 import Peer
from wireloom.sim.play import Play
from wireloom.sim.scenario import ScenarioError


def swarm(**changes: Any) -> Play:
    return Play(plays.swarm(**{"faults": {}, "links": {"delay_ms": 10}, **changes}), 1)


def peers(play: Play) -> list[Peer]:
    return [part for part in play.parts if isinstance(part, Peer)]


def test_a_peer_is_a_role() -> None:
    assert ROLES["peer"] is Peer


def test_what_is_posted_reaches_everybody_in_the_swarm() -> None:
    play = swarm()
    assert not play.run().broken
    messages = list(play.ledger.messages.values())
    assert messages
    everybody = {peer.name for peer in peers(play)}
    assert all(one.arrived.keys() == everybody == one.promised for one in messages)
    assert {len(peer.held(play.now_ns)) for peer in peers(play)} == {len(messages)}


def test_swarms_of_different_names_hear_nothing_of_each_other() -> None:
    cast = {
        name: {"role": "peer", "count": 2, "limits": {"swarm": name}, "traffic": {"rate": 0.05}}
        for name in ("red", "blue")
    }
    play = swarm(cast=cast)
    assert not play.run().broken
    for message in play.ledger.messages.values():
        assert set(message.targets) == message.arrived.keys()
        assert {name[:-2] for name in message.targets} == {message.sender[:-2]}


def test_a_peer_knows_some_of_those_before_it() -> None:
    known = [set(peer.membership.peers) for peer in peers(swarm(limits={"known": 2}))]
    before = [{peer.address for peer in peers(swarm())[:place]} for place in range(len(known))]
    assert [len(one) for one in known] == [0, 1, 2, 2, 2]
    assert all(one <= earlier for one, earlier in zip(known, before, strict=True))


def test_a_message_lives_whole_epochs_as_many_as_the_swarm_allows() -> None:
    limits = {"epoch_ms": 20_000, "max_ttl": 5}
    lives = {
        seconds: peers(swarm(limits=limits, ttl_seconds=seconds))[0].lifetime_ms
        for seconds in (1, 50, 1_000)
    }
    assert lives == {1: 20_000, 50: 40_000, 1_000: 100_000}


def test_what_has_expired_is_owed_to_nobody() -> None:
    play = swarm()
    play.run()
    peer, message = peers(play)[0], next(iter(play.ledger.messages.values()))
    assert not peer.owed(message)
    peers(play)[1].machine.crash()
    assert peer.owed(message) == {"peer-1"}
    message.expires_ms = play.world.now_ms
    assert not peer.owed(message)


def test_bounds_and_drained_are_gauges_of_the_swarm() -> None:
    peer = peers(swarm(limits={"stored_count": 7, "swarm": "news"}))[0]
    assert peer.machine.session is not None
    assert {*peer.bounds(), *peer.drained()} <= set(peer.machine.session.gauges())
    assert peer.bounds()["news.total"] == 7


def test_a_peer_whose_post_is_refused_says_so() -> None:
    play = swarm(limits={"stored_count": 1})
    play.run()
    assert any(one.failed for one in play.ledger.messages.values())


@pytest.mark.parametrize("limits", [{"known": 0}, {"max_ttl": 1 << 16}, {"pulls": 3}])
def test_settings_that_cannot_be_are_told(limits: dict[str, int]) -> None:
    with pytest.raises(ScenarioError, match=r"cast\.peer\.limits"):
        plays.swarm(limits=limits)
