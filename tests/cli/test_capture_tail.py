"""`wireloom capture tail`."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from capture.made import frame, log
from support.cases import ALL, case
from wireloom.capture.fanout import Fanout
from wireloom.capture.frame import Direction
from wireloom.capture.writer import CaptureWriter
from wireloom.cli.main import wireloom
from wireloom.registry import protocol
from wireloom.wire.outcome import Outcome, Reason


def run(*args: str) -> Result:
    return CliRunner().invoke(wireloom, ["capture", *args])


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def data(tmp_path: Path) -> str:
    log(tmp_path / "captures", node="a")
    log(tmp_path / "captures", node="b", batches=1)
    return str(tmp_path)


@pytest.fixture
def talk(tmp_path: Path) -> str:
    """A frame of each protocol."""
    with Fanout(tmp_path / "captures") as out:
        for number, one in enumerate(ALL):
            out.append(frame(number, node=one.name, protocol=one.name, raw=one.frames[0]))
    return str(tmp_path)


def test_each_frame_is_one_decoded_line(talk: str) -> None:
    result = run("tail", "--data", talk)
    lines = result.stdout.splitlines()
    assert (result.exit_code, len(lines)) == (0, len(ALL))
    for shown, one in zip(lines, ALL, strict=True):
        spoken = protocol(one.name)
        summary = spoken.record.summarise(spoken.codec.decode(one.frames[0]), one.frames[0])
        assert f"{one.name} ← mesh-02  {one.name}  {summary.type}" in shown
        assert (summary.id or "") in shown


def test_a_line_says_which_way_and_what_became_of_it(tmp_path: Path) -> None:
    raw = case("myriadmesh").frames[0]
    with CaptureWriter(tmp_path / "captures", "a") as writer:
        writer.append(frame(0, node="a", raw=raw, direction=Direction.OUT, peer="b"))
        rejected = {"outcome": Outcome.REJECTED, "reason": Reason.STALE}
        writer.append(frame(1, node="a", raw=raw, peer=None, **rejected))
        writer.append(frame(2, node="a", raw=b"?", direction=Direction.LOCAL))
        writer.append(frame(3, node="a", raw=b"?", protocol=None))
    first, second, third, fourth = run("tail", "--data", str(tmp_path)).stdout.splitlines()
    assert first.startswith("2023-11-14T22:13:20.000000Z  a → b  myriadmesh  ")
    assert "a ← ?  myriadmesh  " in second
    assert second.endswith("  rejected stale")
    assert "a · mesh-02  myriadmesh  ?  (" in third
    assert fourth.endswith("a ← mesh-02  unknown  ?  (no known protocol)")


def test_what_a_node_made_for_nobody_has_no_peer(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path / "captures", "a") as writer:
        writer.append(frame(node="a", direction=Direction.LOCAL, peer=None))
    assert "  a ·  myriadmesh  " in run("tail", "--data", str(tmp_path)).stdout


def test_what_came_in_stands_before_what_it_led_to(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path / "captures", "a") as writer:
        for way in (Direction.OUT, Direction.IN):
            writer.append(frame(0, node="a", direction=way))
    first, second = run("tail", "--data", str(tmp_path)).stdout.splitlines()
    assert ("←" in first, "→" in second) == (True, True)


def test_frames_are_chosen_by_protocol_and_type(talk: str) -> None:
    assert len(run("tail", "--data", talk, "--protocol", "dtn").stdout.splitlines()) == 1
    both = run("tail", "--data", talk, "--protocol", "dtn", "--protocol", "cthun")
    assert len(both.stdout.splitlines()) == 2
    one = case("signalhub")
    spoken = protocol("signalhub")
    type_ = spoken.record.summarise(spoken.codec.decode(one.frames[0]), one.frames[0]).type
    found = run("tail", "--data", talk, "--type", type_).stdout.splitlines()
    assert len(found) == 1
    assert type_ in found[0]
    assert run("tail", "--data", talk, "--type", "nothing").stdout == ""


def test_the_last_frames_of_a_kind_are_found_wherever_they_are(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path / "captures", "a") as writer:
        for number in range(9):
            kind = {"protocol": "dtn"} if number == 2 else {}
            writer.append(frame(number, node="a", **kind))
            writer.seal()
    found = objects(run("tail", "--raw", "--data", str(tmp_path), "--protocol", "dtn", "-n", "1"))
    assert [one["sequence"] for one in found] == [2]


def test_names_from_outside_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path / "captures", "a") as writer:
        writer.append(frame(0, node="a", peer="\x1b[2J[red]x", link="\x1b"))
    result = run("tail", "--data", str(tmp_path))
    assert "\x1b" not in result.stdout
    assert "\\x1b[2J[red]x" in result.stdout


@pytest.mark.parametrize("arguments", [["--protocol", "smtp"], ["-n", "-1"], ["--data", "nope"]])
def test_misuse_is_one_sentence_and_status_two(data: str, arguments: list[str]) -> None:
    result = run("tail", "--data", data, *arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_tail_prints_the_last_frames_by_time(data: str) -> None:
    found = objects(run("tail", "--raw", "--data", data, "-n", "3"))
    assert [(one["node"], one["sequence"]) for one in found] == [("a", 3), ("a", 4), ("a", 5)]
    found = objects(run("tail", "--raw", "--data", data, "-n", "7"))
    assert [(one["node"], one["sequence"]) for one in found] == [
        ("b", 0),
        ("a", 1),
        ("b", 1),
        ("a", 2),
        ("a", 3),
        ("a", 4),
        ("a", 5),
    ]
    assert len(objects(run("tail", "--raw", "--data", data))) == 8
    assert objects(run("tail", "--raw", "--data", data, "-n", "0")) == []


def test_tail_takes_as_many_segments_as_it_needs(tmp_path: Path) -> None:
    for _ in range(3):
        with CaptureWriter(tmp_path / "captures", "a") as writer:
            writer.append(frame(node="a"))
    found = objects(run("tail", "--raw", "--data", str(tmp_path), "-n", "2"))
    assert [one["sequence"] for one in found] == [1, 2]


def test_tail_follows_until_it_is_interrupted(tmp_path: Path) -> None:
    script = "from wireloom.cli.main import main; main()"
    command = [
        sys.executable,
        "-c",
        script,
        "capture",
        "tail",
        "--raw",
        "--follow",
        "--data",
        str(tmp_path),
    ]
    with CaptureWriter(tmp_path / "captures", "a") as writer:
        writer.append(frame(0, node="a"))
        writer.flush()
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline())["sequence"] == 0
            writer.append(frame(1, node="a"))
            writer.flush()
            assert json.loads(process.stdout.readline())["sequence"] == 1
            writer.append(frame(2, node="a"))
            writer.seal()
            assert json.loads(process.stdout.readline())["sequence"] == 2
            writer.append(frame(3, node="a"))
            writer.flush()
            assert json.loads(process.stdout.readline())["sequence"] == 3
            process.send_signal(signal.SIGINT)
            assert process.wait() == 0


def test_following_ends_when_interrupted(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    added: list[float] = []

    def sleep(seconds: float) -> None:
        if added:
            raise KeyboardInterrupt
        added.append(seconds)
        with CaptureWriter(Path(data) / "captures", "c") as writer:
            writer.append(frame(99, node="c"))

    monkeypatch.setattr(time, "sleep", sleep)
    result = run("tail", "--raw", "--data", data, "-n", "0", "--follow")
    assert result.exit_code == 0
    assert [one["node"] for one in objects(result)] == ["c"]
