"""`--tables` of the commands that ask the tables."""

from pathlib import Path

import deltalake
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from support.lakes import HOSTILE, write
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


@pytest.mark.parametrize(
    "query",
    [
        "SELECT protocol::INT FROM fates",
        "SELECT error(protocol) FROM fates",
        "SELECT strptime(protocol, '%Y') FROM fates",
        "SELECT protocol::JSON FROM fates",
    ],
)
def test_what_an_error_quotes_does_nothing_to_a_terminal(tmp_path: Path, query: str) -> None:
    write(tmp_path, fates=[{"protocol": HOSTILE}])
    result = run("sql", query, "--tables", str(tmp_path))
    assert result.exit_code == 1
    (said,) = result.stderr.splitlines()
    assert said.isprintable()


def test_an_error_of_a_query_shows_where_it_goes_wrong(tmp_path: Path) -> None:
    write(tmp_path)
    result = run("sql", "SELECT nothing FROM fates", "--tables", str(tmp_path))
    assert "LINE 1: SELECT nothing FROM fates" in result.stderr.splitlines()


@pytest.mark.parametrize("command", [("trace", "ab"), ("report",)])
def test_a_table_that_is_not_made_yet_is_said(tmp_path: Path, command: tuple[str, ...]) -> None:
    root = write(tmp_path / "tables")
    (root / "messages").rename(tmp_path / "gone")
    result = run(*command, "--tables", str(root))
    assert result.exit_code == 1
    assert result.stderr == "Error: no table messages yet. Go on: wireloom pipeline run\n"
