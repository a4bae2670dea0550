"""`wireloom capture cat` and `tail`."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from capture.made import log, spoil
from wireloom.capture.segment import segments
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
