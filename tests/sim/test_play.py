"""A scenario is played."""

from pathlib import Path
from typing import Any, cast

import pytest

from sim import plays
from sim.gossip import Gossip, GossipSession
from wireloom.sim.casts import ROLES
from wireloom.sim.parts import Part
from wireloom.sim.play import Play
from wireloom.sim.scenario import ScenarioError, scenario_of
from wireloom.wire.session import Turn


def test_a_seed_gives_the_same_frames_and_another_one_others() -> None:
    one, again, other = (Play(plays.broker(), seed).run() for seed in (1, 1, 2))
    assert one == again
    assert one.fingerprint != other.fingerprint
    assert one.frames > 100
    assert one.troubles["away"] > 0
    assert 0 < one.delivered <= one.messages
    assert one.latency_ms is not None
    assert one.latency_p99_ms is not None
    assert one.latency_p99_ms >= one.latency_ms


def test_a_further_machine_does_not_reshuffle_the_others() -> None:
    def moments(**changes: Any) -> list[int]:
        play = Play(plays.hub(faults={}, **changes), 3)
        play.world.pass_time(20_000)
        return [one.at_ns for one in play.ledger.messages.values() if one.sender == "client-0"]

    members = {
        "server": {"role": "hub"},
        "client": {"role": "hub-client", "count": 6, "traffic": {"rate": 1}},
    }
    assert moments()[:5] == moments(cast=members)[:5]


def test_progress_is_told_in_seconds_of_the_play() -> None:
    told: list[float] = []
    result = Play(plays.hub(seconds=60), 1).run(told.append)
    assert told[-1] == result.seconds == 60
    assert told == sorted(told)


def test_who_joins_late_is_there_in_the_end() -> None:
    scenario = plays.hub()
    members = {
        "hub": {"role": "hub"},
        "late": {"role": "hub-client", "count": 4, "joins_seconds": 40},
    }
    play = Play(plays.hub(cast=members, faults={}), 1)
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


GOSSIP: dict[str, Any] = {
    "about": "Gossip.",
    "seconds": 160,
    "calm_seconds": 100,
    "cast": {
        "peer": {
            "role": "gossip",
            "count": 6,
            "joins_seconds": 30,
            "disk_ms": 4,
            "traffic": {"rate": 0.05},
        }
    },
    "links": {
        "delay_ms": 30,
        "jitter_ms": 20,
        "loss": 0.3,
        "duplication": 0.05,
        "reordering": 0.1,
        "corruption": 0.02,
        "truncation": 0.02,
        "mtu": 1_408,
    },
    "faults": {
        "split": {
            "kind": "partition",
            "who": "peer",
            "share": 0.34,
            "every_seconds": 20,
            "for_seconds": 20,
        },
        "die": {"kind": "crash", "who": "peer", "every_seconds": 15, "for_seconds": 5},
    },
}


@pytest.fixture
def _gossip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cast("dict[str, type[Part]]", ROLES), "gossip", Gossip)


@pytest.mark.usefixtures("_gossip")
def test_peers_on_bad_datagrams_agree_in_the_end() -> None:
    for seed in range(3):
        play = Play(scenario_of(GOSSIP), seed)
        result = play.run()
        assert not result.broken
        assert result.lost > 100
        holders = [part.held(0) for part in play.parts if isinstance(part, Gossip)]
        assert len(holders[0]) > 3


@pytest.mark.usefixtures("_gossip")
def test_peers_that_keep_something_to_themselves_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    take = GossipSession.take

    def forgets(self: GossipSession, said: bytes, turn: Turn) -> None:
        take(self, said, turn)
        if said.startswith(b"~1 "):
            del self.known[said]

    monkeypatch.setattr(GossipSession, "take", forgets)
    results = [Play(scenario_of(GOSSIP), seed).run() for seed in range(3)]
    assert "agreed" in {broken.invariant for result in results for broken in result.broken}
