"""`wireloom capture stat`."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from capture.made import BARE, FULL, START, frame, log, spoil
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter
from wireloom.cli.capture_stat import stat_of
from wireloom.cli.main import wireloom
from wireloom.remote import local


def run(data: Path, *, columns: int = 200) -> Result:
    command = ["capture", "stat", "--data", str(data)]
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(wireloom, command)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    log(tmp_path / "captures")
    return tmp_path


def test_a_segment_is_counted(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path, "a") as writer:
        for one in (FULL, BARE, frame(3), frame(1)):
            writer.append(one)
    (segment,) = segments(tmp_path)
    found = stat_of(segment)
    assert (found.batch_count, found.row_count, found.unchecked_count) == (1, 4, 0)
    assert found.times == [START + 1, START + 8]
    assert found.protocols == {"uep12": 1, "myriadmesh": 2, "unknown": 1}
    assert found.size == segment.path.stat().st_size


def test_the_table_shows_segments_and_totals(data: Path) -> None:
    log(data / "captures", node="b", batches=1)
    result = run(data)
    assert result.exit_code == 0
    head, first, second, total = result.stdout.splitlines()
    assert head.split() == (
        ["segment", "state", "batches", "frames", "bytes", "from", "to", "protocols", "damage"]
    )
    assert first.split()[:2] == ["b-0000000000000000", "sealed"]
    assert second.split()[1:4] == ["sealed", "3", "6"]
    assert "2023-11-14T22:13:20.000005Z" in second
    assert "myriadmesh 6" in second
    assert total.split()[:4] == ["2", "segments", "4", "8"]


@pytest.mark.parametrize("columns", [80, 120])
def test_where_there_is_no_room_a_segment_has_two_lines(data: Path, columns: int) -> None:
    lines = run(data, columns=columns).stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert lines[0].split() == ["segment", "state", "batches", "frames", "bytes"]
    assert lines[1].split() == ["from", "to", "protocols", "damage"]
    assert lines[2].startswith("mesh-01-0000000000000000  sealed")
    assert "myriadmesh 6" in "".join(lines)


def test_names_from_outside_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path / "captures", "a") as writer:
        writer.append(frame(protocol="\x1b[2J[red]x"))
    result = run(tmp_path)
    assert "\x1b" not in result.stdout
    assert "\\x1b[2J[red]x 1" in result.stdout


def test_an_open_segment_is_shown_as_such(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path / "captures", "a") as writer:
        writer.append(frame())
        writer.flush()
        assert " open " in run(tmp_path).stdout


def test_damage_is_counted_and_told(data: Path) -> None:
    (segment,) = segments(data / "captures")
    spoil(segment.path, segment.sums()[0].end + 200)
    result = run(data)
    assert result.exit_code == 1
    assert "1 damaged" in result.stdout
    assert "batch 1" in result.stderr


def test_missing_checksums_are_told_and_are_no_damage(data: Path) -> None:
    (segment,) = segments(data / "captures")
    segment.sums_path.unlink()
    result = run(data)
    assert result.exit_code == 0
    assert "3 without checksum" in result.stdout


def test_a_segment_without_frames_has_no_times(data: Path) -> None:
    (segment,) = segments(data / "captures")
    segment.path.unlink()
    found = stat_of(segment)
    assert (found.row_count, found.size, found.times) == (0, 0, [])
    local(segment.path).mkdir()
    assert run(data).exit_code == 1


def test_nothing_captured_is_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "captures").mkdir()
    result = run(tmp_path)
    assert result.exit_code == 0
    assert "0 segments" in result.stdout
