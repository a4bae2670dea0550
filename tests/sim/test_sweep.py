"""Sweeps: which worlds they have, and what one says."""

from pathlib import Path

import pytest

from sim import plays
from sim.test_invariants import hub_hands_over_twice
from wireloom.sim.play import Play
from wireloom.sim.scenario import ScenarioError, load, text_of
from wireloom.sim.sweep import MAX_COMBINATIONS, MAX_WORLDS, swept


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "hub.toml"
    path.write_text(text_of(plays.hub()))
    return path


def test_every_combination_has_every_seed(scenario: Path) -> None:
    sweep = swept(scenario, ["links.loss=0, 0.1", "seconds=100", "cast.client.count=2,3"], seeds=2)
    assert sweep.worlds == 8
    assert [one.changes for one in sweep.combinations] == [
        ("links.loss=0", "seconds=100", "cast.client.count=2"),
        ("links.loss=0", "seconds=100", "cast.client.count=3"),
        ("links.loss=0.1", "seconds=100", "cast.client.count=2"),
        ("links.loss=0.1", "seconds=100", "cast.client.count=3"),
    ]
    played = [(row["parameters"], row["seed"]) for row in map(sweep.play, range(8))]
    assert played == [(one.parameters, seed) for one in sweep.combinations for seed in (1, 2)]


def test_a_world_says_what_its_play_said(scenario: Path) -> None:
    result = Play(load(scenario, ["links.loss=0.1"]), 2).run()
    row = swept(scenario, ["links.loss=0.1"], seeds=2).play(1)
    assert row == {
        "scenario": "hub",
        "seed": 2,
        "parameters": {"links.loss": "0.1"},
        "broken": None,
        "words": None,
        "fingerprint": result.fingerprint,
        "frames": result.frames,
        "sent": result.messages,
        "delivered": result.delivered,
        "delivery_ratio": result.delivered / result.messages,
        "latency_p50_ms": result.latency_ms,
        "latency_p99_ms": result.latency_p99_ms,
        "transmissions": result.frames / result.messages,
        "seconds": 110.0,
    }


def test_a_world_where_nobody_speaks_has_no_ratio(scenario: Path) -> None:
    row = swept(scenario, ["cast.client.traffic.rate=0"], seeds=1).play(0)
    assert (row["sent"], row["delivery_ratio"], row["transmissions"]) == (0, None, None)
    assert (row["latency_p50_ms"], row["latency_p99_ms"]) == (None, None)


def test_a_world_that_breaks_says_how(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub_hands_over_twice(monkeypatch)
    row = swept(scenario, [], seeds=1).play(0)
    assert row["broken"] == "once"
    assert row["words"]


def test_commas_within_brackets_and_quotes_part_nothing(scenario: Path) -> None:
    kinds = "{send = 1, tell = 2}"
    sweep = swept(scenario, [f"cast.client.traffic.kinds={kinds},{{send=1}}"], seeds=1)
    shares = [one.scenario.cast["client"].traffic.kinds for one in sweep.combinations]
    assert shares == [{"send": 1, "tell": 2}, {"send": 1}]
    (one,) = swept(scenario, ['about="a, {b"'], seeds=1).combinations
    assert one.scenario.about == "a, {b"


@pytest.mark.parametrize(
    ("sets", "told"),
    [
        (["links.loss"], "links.loss sets nothing; write it like links.loss=0,0.1,0.2"),
        (["links.loss=0,,1"], "links.loss=0,,1 sets nothing"),
        (["links.loss=0,0.1,0"], "links.loss has the value 0 twice"),
        (["links.loss=0", "links.loss=0.1"], "links.loss is set twice"),
        (["links.loss=0,7"], "links.loss = 7.0 cannot be"),
        (["links.lots=0,7"], "links has no lots"),
        (["seconds=" + ",".join(map(str, range(100, 1200)))], "1,100 combinations of values are"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_played(
    scenario: Path, sets: list[str], told: str
) -> None:
    assert MAX_COMBINATIONS == 1_000
    with pytest.raises(ScenarioError, match=told):
        swept(scenario, sets, seeds=1)


def test_more_worlds_than_can_be_held_are_refused(scenario: Path) -> None:
    assert swept(scenario, ["links.loss=0,0.1"], seeds=50_000).worlds == MAX_WORLDS
    with pytest.raises(ScenarioError, match="100,002 worlds are too many; at most 100,000 can be"):
        swept(scenario, ["links.loss=0,0.1"], seeds=50_001)


def test_contacts_that_cannot_be_are_told_before_anything_is_played(scenario: Path) -> None:
    (scenario.parent / "contacts").write_text("1 CONN 0 99 up\n")
    with pytest.raises(ScenarioError, match="more nodes than the cast"):
        swept(scenario, ['mobility.contacts="contacts"'], seeds=1)
