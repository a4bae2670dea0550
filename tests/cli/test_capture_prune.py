"""`wireloom capture prune`."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from capture.made import log
from wireloom.capture.receipts import put_receipt
from wireloom.capture.segment import segments
from wireloom.cli.main import wireloom


def run(*args: str) -> Result:
    return CliRunner().invoke(wireloom, ["capture", "prune", *args])


def test_what_was_taken_is_deleted_and_told(tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    segment = log(folder)
    put_receipt(folder, "tables", {segment.name: 3})
    result = run("--data", str(tmp_path), "--max-bytes", "0")
    assert result.exit_code == 0
    assert result.output.startswith(f"deleted {segment.name}, ")
    assert "deleted 1 segment with" in result.output
    assert list(segments(folder)) == []


def test_what_was_not_taken_is_kept_and_told(tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    log(folder)
    result = run("--data", str(tmp_path), "--max-bytes", "0")
    assert result.exit_code == 1
    assert "kept although too old or too many: 1 segment with " in result.stderr
    assert "not taken by any pipeline" in result.stderr
    put_receipt(folder, "s3://tables", {})
    assert "not taken by s3://tables" in run("--data", str(tmp_path), "--max-bytes", "0").stderr
    assert len(list(segments(folder))) == 1
    assert run("--data", str(tmp_path), "--max-bytes", "0", "--force").exit_code == 0
    assert list(segments(folder)) == []


def test_what_is_young_is_kept(tmp_path: Path) -> None:
    log(tmp_path / "captures")
    result = run("--data", str(tmp_path), "--max-age", "7d", "--force")
    assert result.exit_code == 0
    assert "deleted 0 segments with 0 bytes, kept 1 segment" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Say what to keep: --max-bytes, --max-age, or both."),
        (["--max-age", "soon"], "write it like 90m, 12h or 7d"),
        (["--max-bytes", "-1"], "-1"),
    ],
)
def test_misuse_is_a_sentence(tmp_path: Path, arguments: list[str], said: str) -> None:
    log(tmp_path / "captures")
    result = run("--data", str(tmp_path), *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
