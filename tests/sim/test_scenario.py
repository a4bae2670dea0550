"""Scenarios are read strictly, and told in one sentence what is wrong."""

from pathlib import Path
from typing import Any

import pytest

from sim import plays
from wireloom.sim.network import Quality
from wireloom.sim.scenario import Scenario, ScenarioError, load, scenario_of, text_of

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
HUB: dict[str, Any] = {"about": "x", "cast": {"hub": {"role": "hub"}}}


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_those_of_the_project_are_right_and_survive_being_written(
    path: Path, tmp_path: Path
) -> None:
    scenario = load(path)
    again = tmp_path / "again.toml"
    again.write_text(text_of(scenario))
    assert load(again) == scenario
    assert scenario.about.endswith(".")


def test_there_are_several_for_each_server() -> None:
    roles = [cast.role for path in SCENARIOS for cast in load(path).cast.values()]
    assert min(roles.count("hub"), roles.count("broker")) >= 4


def test_a_change_goes_to_its_place(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(text_of(plays.hub()))
    sets = ["links.loss=0.3", "cast.client.count=7", "cast.client.traffic.rate=2", "about=Else."]
    changed = load(path, sets)
    assert changed.links == Quality(delay_ms=10, jitter_ms=5, loss=0.3)
    assert (changed.cast["client"].count, changed.cast["client"].traffic.rate) == (7, 2)
    assert changed.about == "Else."
    assert load(path, ["faults.new={kind='break',who='client',every_seconds=9}"]).faults["new"]


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"about": "x"}, "Object missing required field `cast`"),
        ({**HUB, "lniks": {}}, "the file has no lniks"),
        ({**HUB, "links": {"lost": 1}}, "links has no lost"),
        ({**HUB, "links": {"loss": "x"}}, "links.loss: Expected `float`, got `str`"),
        ({**HUB, "links": {"loss": 1.0}}, "links.loss = 1.0 cannot be; it must be from 0 to 0.95"),
        ({**HUB, "seconds": float("nan")}, "seconds = nan cannot be; it must be from 1 to 1e+08"),
        ({"about": "x", "cast": {"a": {"role": "hup"}}}, "did you mean hub?"),
        ({"about": "x", "cast": {"a": {"role": "zzz"}}}, "there is agent, broker, hub, hub-client"),
        (
            {"about": "x", "cast": {"a": {"role": "agent", "traffic": {"kinds": {"sent": 1}}}}},
            "cast.a.traffic.kinds: there is no sent; did you mean send?",
        ),
        (
            {"about": "x", "cast": {"a": {"role": "broker", "limits": {"held_count": 0}}}},
            "cast.a.limits: held_count must be 1 at least",
        ),
        (
            {**HUB, "faults": {"f": {"kind": "crash", "who": "bub", "every_seconds": 1}}},
            "faults.f.who: there is no bub; did you mean hub?",
        ),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(tables: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario_of(tables)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "change", "words"),
    [
        ("about = ", "", "is not TOML"),
        ("about = 'x'", "links.loss", "links.loss changes nothing"),
        ("about = 'x'", "about.what=1", "about.what is set, but about is no table"),
    ],
)
def test_a_file_or_a_change_that_is_none(
    text: str, change: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "one.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=words):
        load(path, [change] if change else [])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read: No such file"):
        load(tmp_path / "none.toml")


def test_contacts_lie_beside_the_scenario(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(text_of(plays.hub()) + '[mobility]\ncontacts = "here.txt"\n')
    scenario: Scenario = load(path)
    assert scenario.mobility is not None
    assert scenario.mobility.contacts == str(tmp_path / "here.txt")
