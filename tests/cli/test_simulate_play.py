"""`wireloom simulate play`, as somebody types it."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sim.test_invariants import hub_hands_over_twice
from wireloom.capture.segment import segments
from wireloom.cli.main import wireloom
from wireloom.sim.scenario import load


def run(*words: object) -> Result:
    return CliRunner().invoke(wireloom, ["simulate", *map(str, words)])


def test_a_play_is_summarised_in_80_columns(scenario: Path) -> None:
    result = run(scenario, "--seed", 3)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == "A test."
    assert lines[1].startswith("Seed 3: 110 s of its time in ")
    assert lines[-1] == "All 11 invariants hold."
    assert max(map(len, lines)) <= 80
    assert [one for one in lines if one.startswith("Fingerprint")] == [
        one for one in run(scenario, "--seed", 3).output.splitlines() if "Fingerprint" in one
    ]


def test_what_broke_is_told_with_what_plays_it_again_and_made_smaller(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub_hands_over_twice(monkeypatch)
    small = tmp_path / "small.toml"
    result = run(scenario, "--set", "links.loss=0.05", "--shrink", small)
    assert result.exit_code == 1
    assert "once: Nothing is delivered twice, unless its server died in between." in result.output
    assert f"wireloom simulate {scenario} --seed 1 --set links.loss=0.05" in result.output
    assert load(small).links.loss == 0
    assert run(small).exit_code == 1


def test_captures_are_written_once(scenario: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert run(scenario, "--data", data, "--seconds", 60).exit_code == 0
    assert [one.node for one in segments(data / "captures")] == ["server-0"]
    again = run(scenario, "--data", data)
    assert again.exit_code == 1
    assert "has captures already" in again.output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--set", "links.lost=1"], "the scenario is wrong: links has no lost."),
        (["--seconds", "60", "--hours", "1"], "Give --seconds or --hours, not both."),
        (["--hours", "0.01"], "calm_seconds = 50.0 cannot be; it must be from 0 to 36."),
    ],
)
def test_what_cannot_be_is_one_sentence(scenario: Path, words: list[str], told: str) -> None:
    result = run(scenario, *words)
    assert (result.exit_code, result.output) == (2, f"Error: {told}\n")
