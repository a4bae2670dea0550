"""`wireloom generate`: bulk traffic and its truth."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from wireloom.cli import generate as module
from wireloom.cli.main import wireloom


def run(*args: str) -> Result:
    return CliRunner().invoke(wireloom, ["generate", *args])


def test_a_corpus_lies_where_it_is_wanted_and_is_summed_up_in_a_line(tmp_path: Path) -> None:
    data = tmp_path / "data"
    result = run("--frames", "1000", "--damage", "0", "--data", str(data))
    assert result.exit_code == 0, result.output
    counts = json.loads((data / "truth-counts.json").read_text())
    assert result.stdout == (
        f"{counts['captured']} frames (0 damaged, {counts['forged']} forged) and the fates of "
        f"{counts['messages']} messages are in {data}.\n"
    )
    assert list((data / "captures").glob("*.arrow"))
    assert (data / "truth.jsonl").exists()


def test_captures_that_are_there_already_are_a_clear_refusal(tmp_path: Path) -> None:
    args = ("--frames", "1000", "--data", str(tmp_path))
    assert run(*args).exit_code == 0
    again = run(*args)
    assert again.exit_code == 1
    assert "holds captures already" in again.output


def test_a_folder_that_cannot_be_made_is_a_clear_refusal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("--frames", "1000", "--data", str(tmp_path / "file" / "data"))
    assert result.exit_code == 1
    assert "The corpus cannot be written" in result.output


@pytest.mark.parametrize("args", [("--frames", "10"), ("--damage", "2"), ("--sightings", "1")])
def test_wishes_that_cannot_come_true_are_misuse(args: tuple[str, str]) -> None:
    assert run(*args).exit_code == 2


def test_a_terminal_gets_a_bar_for_each_thing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        module, "Console", lambda stderr: Console(stderr=stderr, force_terminal=True)
    )
    result = run("--frames", "1000", "--data", str(tmp_path))
    assert "frames" in result.stderr
