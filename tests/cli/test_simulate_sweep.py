"""`wireloom simulate sweep`, as somebody types it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wireloom.cli.main import wireloom
from wireloom.cli.simulate_sweep import needed
from wireloom.lake import Lake
from wireloom.sim.play import Play
from wireloom.sim.scenario import load
from wireloom.sim.sweep import swept as planned

SCRIPT = [sys.executable, "-c", "from wireloom.cli.main import main; main()", "simulate"]

TWICE = """
from wireloom.protocols.signalhub.hub.delivery import Delivery

hand_over = Delivery._hand_over


def twice(self, *args):
    hand_over(self, *args)
    return hand_over(self, *args)


Delivery._hand_over = twice
"""
"""Has every Python process, and so the workers, run a hub that hands over twice."""


def run(*words: object) -> Result:
    return CliRunner().invoke(wireloom, ["simulate", "sweep", *map(str, words)])


def swept(*words: object, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A sweep in a process of its own, which has Spark to itself."""
    own = os.environ.get("PYTHONPATH", "")
    environment = {"COLUMNS": "80", "PYTHONPATH": own if path is None else f"{path}:{own}"}
    return subprocess.run(
        [*SCRIPT, "sweep", *map(str, words)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.spark
def test_worlds_are_the_same_as_played_one_by_one_and_summarised(
    scenario: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    done = swept(scenario, "--seeds", 2, "--set", "links.loss=0,0.05", "--data", data)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "A test."
    assert lines[1].startswith("4 worlds: 2 combinations, 2 seeds; ")
    assert lines[2].split() == ["links.loss", "worlds", "broken", "delivered", "p50", "p99"]
    assert [line.split()[:3] for line in lines[3:5]] == [["0", "2", "0"], ["0.05", "2", "0"]]
    assert lines[-2] == "All 11 invariants hold in all worlds."
    assert lines[-1] == f"Picture: {data / 'hub.svg'}"
    assert max(len(line) for line in lines if not line.startswith("Picture")) <= 80
    assert (data / "hub.svg").read_text().startswith("<svg")
    rows = Lake(data / "tables").rows(
        "SELECT parameters['links.loss'] AS loss, seed, fingerprint FROM simulations ORDER BY 1, 2"
    )
    assert [(row["loss"], row["seed"], row["fingerprint"]) for row in rows] == [
        (loss, seed, Play(load(scenario, [f"links.loss={loss}"]), seed).run().fingerprint)
        for loss in ("0", "0.05")
        for seed in (1, 2)
    ]


@pytest.mark.spark
def test_what_broke_is_told_with_what_plays_the_first_again(scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(TWICE)
    words = ("--seeds", 2, "--seconds", 100, "--data", tmp_path, "--picture", tmp_path / "a.svg")
    done = swept(scenario, *words, path=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Broken: 2 worlds. The first:" in done.stdout
    assert "once: Nothing is delivered twice, unless its server died in between." in done.stdout
    again = f"wireloom simulate {scenario} --seed 1 --set seconds=100.0"
    assert f"Play it again: {again}\n" in done.stdout
    assert (tmp_path / "a.svg").exists()
    played = CliRunner().invoke(wireloom, shlex.split(again)[1:])
    assert played.exit_code == 0, "here the hub is whole"
    (row,) = Lake(tmp_path / "tables").rows(
        "SELECT count(*) AS n FROM simulations WHERE broken = 'once' AND words IS NOT NULL"
    )
    assert row["n"] == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--set", "links.loss"], "links.loss sets nothing; write it like links.loss=0,0.1,0.2."),
        (["--set", "links.loss=0,1"], "links.loss = 1.0 cannot be; it must be from 0 to 0.95."),
        (["--set", "seconds=200", "--seconds", "300"], "seconds is set twice; write its values"),
        (["--picture", "nowhere/a.svg"], "nowhere is no folder. Make it first, or name another."),
        (["--conf", "foo"], "--conf foo: a setting is KEY=VALUE, such as spark.driver.memory=8g."),
    ],
)
def test_what_cannot_be_is_one_sentence(
    scenario: Path, tmp_path: Path, words: list[str], told: str
) -> None:
    result = run(scenario, "--data", tmp_path / "data", *words)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {told}")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "data" / "tables" / "simulations").exists()


def test_a_scenario_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    result = run(tmp_path / "none.toml")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "cannot be read: No such file or directory." in result.stderr


def test_the_folder_of_contacts_is_what_workers_need(scenario: Path) -> None:
    assert needed(planned(scenario, [], 1)) == []
    (scenario.parent / "near").write_text("1 CONN 0 1 up\n")
    (place,) = needed(planned(scenario, ['mobility.contacts="near"', "links.loss=0,0.1"], 1))
    assert (place.folder, place.is_written) == (scenario.parent, False)
