"""A scenario is played."""

from pathlib import Path
from typing import Any

import pytest

from sim import plays
from wireloom.sim.play import Play
from wireloom.sim.scenario import ScenarioError


def test_a_seed_gives_the_same_frames_and_another_one_others() -> None:
    one, again, other = (Play(plays.broker(), seed).run() for seed in (1, 1, 2))
    assert one == again
    assert one.fingerprint != other.fingerprint
    assert one.frames > 100
    assert one.troubles["away"] > 0
    assert 0 < one.delivered <= one.messages
    assert one.latency_ms is not None


def test_a_further_machine_does_not_reshuffle_the_others() -> None:
    def moments(**changes: Any) -> list[int]:
        play = Play(plays.hub(faults={}, **changes), 3)
        play.world.pass_time(20_000)
        return [one.at_ns for one in play.ledger.messages.values() if one.sender == "client-0"]

    cast = {
        "server": {"role": "hub"},
        "client": {"role": "hub-client", "count": 6, "traffic": {"rate": 1}},
    }
    assert moments()[:5] == moments(cast=cast)[:5]


def test_progress_is_told_in_seconds_of_the_play() -> None:
    told: list[float] = []
    result = Play(plays.hub(seconds=60), 1).run(told.append)
    assert told[-1] == result.seconds == 60
    assert told == sorted(told)


def test_who_joins_late_is_there_in_the_end() -> None:
    scenario = plays.hub()
    cast = {
        "hub": {"role": "hub"},
        "late": {"role": "hub-client", "count": 4, "joins_seconds": 40},
    }
    play = Play(plays.hub(cast=cast, faults={}), 1)
    play.world.pass_time(25_000)
    assert [part.machine.is_up for part in play.parts] == [True, True, True, False, False]
    play.run()
    assert all(part.machine.is_up for part in play.parts)
    assert scenario.seconds == 110


def test_contacts_decide_who_reaches_whom(tmp_path: Path) -> None:
    path = tmp_path / "contacts.txt"
    path.write_text("10 CONN 0 1 up\n20 CONN 0 1 down\n")
    scenario = plays.hub(faults={}, mobility={"contacts": str(path)})
    play = Play(scenario, 1)
    network = play.world.network
    play.world.pass_time(9_000)
    assert not network.reaches("server-0", "client-0")
    play.world.pass_time(2_000)
    assert network.reaches("server-0", "client-0")
    assert not network.reaches("server-0", "client-1")
    play.world.pass_time(10_000)
    assert not network.reaches("server-0", "client-0")


@pytest.mark.parametrize(
    ("text", "words"),
    [("0 CONN 0 9 up\n", "more nodes than the cast"), ("x\n", "line 1 is no contact")],
)
def test_contacts_that_cannot_be_are_told(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "contacts.txt"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=words):
        Play(plays.hub(mobility={"contacts": str(path)}), 1)


def test_walkers_meet_and_part() -> None:
    mobility = {"width_m": 50, "height_m": 50, "range_m": 25, "most_speed": 5, "rest_seconds": 1}
    play = Play(plays.hub(faults={}, mobility=mobility), 1)
    met = set()
    for _ in range(60):
        play.world.pass_time(1_000)
        met.add(play.world.network.reaches("server-0", "client-0"))
    assert met == {True, False}
