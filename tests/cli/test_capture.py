"""`wireloom capture cat` and `tail`."""

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

from capture.made import frame, log, spoil
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter
from wireloom.cli.main import wireloom


def run(*args: str) -> Result:
    return CliRunner().invoke(wireloom, ["capture", *args])


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def data(tmp_path: Path) -> str:
    log(tmp_path / "captures", node="a")
    log(tmp_path / "captures", node="b", batches=1)
    return str(tmp_path)


def test_cat_prints_every_frame_with_its_number_and_segment(data: str) -> None:
    result = run("cat", "--data", data)
    assert result.exit_code == 0
    assert [(one["node"], one["sequence"]) for one in objects(result)] == [
        *[("a", number) for number in range(6)],
        *[("b", number) for number in range(2)],
    ]
    assert objects(result)[0] == {
        "sequence": 0,
        "segment": "a-0000000000000000",
        "captured_at": "2023-11-14T22:13:20.000000Z",
        "node": "a",
        "protocol": "myriadmesh",
        "link": "udp",
        "direction": "in",
        "peer": "mesh-02",
        "raw": "4d594d5330",
    }


def test_cat_prints_a_range_of_a_node(data: str) -> None:
    result = run("cat", "--data", data, "--node", "a", "--first", "2", "--last", "4")
    assert [one["sequence"] for one in objects(result)] == [2, 3, 4]


def test_damage_is_told_and_the_rest_is_printed(data: str) -> None:
    segment = next(segments(Path(data) / "captures"))
    spoil(segment.path, segment.sums()[0].end + 200)
    result = run("cat", "--data", data)
    assert result.exit_code == 1
    assert len(objects(result)) == 6
    assert "a-0000000000000000.arrow: batch 1, byte " in result.stderr
    assert "2 frames: the checksum does not match" in result.stderr


@pytest.mark.parametrize("command", ["cat", "tail", "stat", "export"])
def test_a_directory_without_captures_is_one_clear_sentence(command: str, tmp_path: Path) -> None:
    result = run(command, "--data", str(tmp_path))
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {tmp_path} holds no captures")
    assert result.stderr.count("\n") == 1


def test_a_node_that_is_not_there_is_told(data: str) -> None:
    result = run("cat", "--data", data, "--node", "c")
    assert result.exit_code == 1
    assert "no frames of the node c" in result.stderr


def test_tail_prints_the_last_frames_by_time(data: str) -> None:
    found = objects(run("tail", "--data", data, "-n", "3"))
    assert [(one["node"], one["sequence"]) for one in found] == [("a", 3), ("a", 4), ("a", 5)]
    found = objects(run("tail", "--data", data, "-n", "7"))
    assert [(one["node"], one["sequence"]) for one in found] == [
        ("b", 0),
        ("a", 1),
        ("b", 1),
        ("a", 2),
        ("a", 3),
        ("a", 4),
        ("a", 5),
    ]
    assert len(objects(run("tail", "--data", data))) == 8
    assert objects(run("tail", "--data", data, "-n", "0")) == []


def test_tail_takes_as_many_segments_as_it_needs(tmp_path: Path) -> None:
    for _ in range(3):
        with CaptureWriter(tmp_path / "captures", "a") as writer:
            writer.append(frame(node="a"))
    found = objects(run("tail", "--data", str(tmp_path), "-n", "2"))
    assert [one["sequence"] for one in found] == [1, 2]


def test_tail_follows_until_it_is_interrupted(tmp_path: Path) -> None:
    script = "from wireloom.cli.main import main; main()"
    command = [sys.executable, "-c", script, "capture", "tail", "--follow", "--data", str(tmp_path)]
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
    result = run("tail", "--data", data, "-n", "0", "--follow")
    assert result.exit_code == 0
    assert [one["node"] for one in objects(result)] == ["c"]
