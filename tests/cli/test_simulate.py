"""`wireloom simulate`: `play` is meant wherever no command is named."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.test_completion import asked
from wireloom.cli.main import wireloom


def run(*words: object) -> Result:
    return CliRunner().invoke(wireloom, ["simulate", *map(str, words)])


def fingerprint(result: Result) -> str:
    (line,) = [one for one in result.output.splitlines() if one.startswith("Fingerprint ")]
    return line


def test_a_scenario_is_played_whether_play_is_named_or_not(scenario: Path) -> None:
    named = fingerprint(run("play", scenario, "--seed", 3))
    assert fingerprint(run(scenario, "--seed", 3)) == named
    assert fingerprint(run("--seed", 3, scenario)) == named


def test_without_a_word_the_scenario_is_missed() -> None:
    result = run()
    assert result.exit_code == 2
    assert "Missing argument 'SCENARIO'." in result.stderr


def test_help_names_both() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "wireloom simulate SCENARIO" in result.stdout
    assert [line.split()[0] for line in result.stdout.splitlines()[-2:]] == ["play", "sweep"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("wireloom simulate ", ["play", "sweep"]),
        ("wireloom simulate sw", ["sweep"]),
        ("wireloom simulate --shr", ["--shrink"]),
        ("wireloom simulate a.toml --shr", ["--shrink"]),
        ("wireloom simulate sweep a.toml --see", ["--seeds"]),
        ("wireloom simulate scen", ["scen"]),
    ],
)
def test_commands_and_what_play_takes_are_completed(words: str, found: list[str]) -> None:
    assert asked(words) == found
