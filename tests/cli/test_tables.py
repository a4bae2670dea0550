"""`--tables` of the commands that ask the tables."""

from pathlib import Path

import deltalake
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from wireloom.cli.main import wireloom


def run(*args: str) -> Result:
    return CliRunner().invoke(wireloom, args)


@pytest.mark.parametrize("prefix", ["", "file://"])
def test_tables_may_lie_elsewhere(tmp_path: Path, prefix: str) -> None:
    deltalake.write_deltalake(str(tmp_path / "lake" / "one"), pa.table({"n": [7]}))
    root = f"{prefix}{tmp_path}/lake"
    result = run("sql", "SELECT n FROM one", "--tables", root, "--format", "csv")
    assert result.stdout.splitlines() == ["n", "7"]


@pytest.mark.parametrize("command", [("report",), ("trace", "ab"), ("sql", "SELECT 1")])
def test_a_root_without_tables_is_said_in_one_sentence(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    result = run(*command, "--tables", str(tmp_path))
    assert result.exit_code == 1
    assert f"{tmp_path} holds no tables" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [("report",), ("trace", "ab"), ("sql", "SELECT 1")])
def test_a_missing_data_folder_is_misuse(tmp_path: Path, command: tuple[str, ...]) -> None:
    result = run(*command, "--data", str(tmp_path / "nope"))
    assert result.exit_code == 2
    assert "does not exist" in result.stderr
