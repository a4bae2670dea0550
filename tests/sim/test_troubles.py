"""What goes wrong in a play goes right again."""

from typing import Any

import pytest

from sim import plays
from wireloom.sim.play import Play


def played(**fault: Any) -> Play:
    table = {"who": "client", "every_seconds": 3, "for_seconds": 4, **fault}
    return Play(plays.hub(faults={"f": table}), 1)


def states(play: Play, seconds: int = 60) -> set[tuple[bool, bool]]:
    """Whether machines were up, and stopped, second by second."""
    seen = set()
    for _ in range(seconds):
        play.world.pass_time(1_000)
        seen |= {(part.machine.is_up, part.machine.is_paused) for part in play.parts}
    return seen


@pytest.mark.parametrize("kind", ["crash", "vanish"])
def test_machines_die_and_come_back(kind: str) -> None:
    play = played(kind=kind)
    assert states(play) == {(True, False), (False, False)}
    assert sum(len(part.crashes) for part in play.parts) > 3
    result = play.run()
    assert not result.broken
    assert all(part.machine.is_up for part in play.parts)


def test_processes_stop_and_go_on() -> None:
    play = played(kind="pause", share=0.5)
    assert states(play) == {(True, False), (True, True)}
    assert not play.run().broken
    assert not any(part.machine.is_paused for part in play.parts)


def test_connections_break_and_are_made_again() -> None:
    play = played(kind="break", from_seconds=10, until_seconds=30)
    result = play.run()
    assert 3 <= result.troubles["f"] <= 15
    assert not result.broken
    assert play.parts[0].machine.session is not None
    assert play.parts[0].machine.session.gauges()["connections"] == 4


def test_a_partition_begins_and_heals() -> None:
    play = played(kind="partition", share=0.5, every_seconds=20)
    network = play.world.network
    seen = set()
    for _ in range(60):
        play.world.pass_time(1_000)
        seen.add(network.reaches("server-0", "client-0"))
    assert seen == {True, False}
    assert not play.run().broken


def test_a_connection_over_a_cut_is_given_up_after_a_while() -> None:
    scenario = plays.hub(faults={}, seconds=300)
    play = Play(scenario, 1)
    play.world.pass_time(5_000)
    end = play.parts[1].machine.ends[0]
    play.world.give_up(end)
    assert end.far is not None
    play.world.network.cut("x", ["client-0"])
    play.world.give_up(end)
    assert end.far is None
