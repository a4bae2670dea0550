"""What lies below `--data`."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli.tree import LEAVES
from wireloom.cli.data import captures, existing, tables
from wireloom.cli.main import wireloom
from wireloom.cli.misuse import MisuseError


def test_captures_and_tables_have_their_folders() -> None:
    assert captures(Path("d")) == Path("d/captures")
    assert tables(Path("d")) == Path("d/tables")


def test_a_data_folder_is_there_or_it_is_misuse(tmp_path: Path) -> None:
    assert existing(tmp_path) == tmp_path
    with pytest.raises(MisuseError, match="does not exist"):
        existing(tmp_path / "nope")


CREATING = {"capture import", "generate", "serve"}
"""Commands that make the folder."""

NEEDED = {"capture prune": ["--max-bytes=1000"], "sql": ["select 1"], "trace": ["ab"]}
"""What must be typed beside the folder."""

READING = [
    name
    for name, found in LEAVES.items()
    if any(one.name == "data" and isinstance(one.type, click.Path) for one in found.params)
    and name not in CREATING
]


@pytest.mark.parametrize("name", READING)
def test_a_missing_folder_is_misuse_and_one_sentence(name: str, tmp_path: Path) -> None:
    typed = [*name.split(), *NEEDED.get(name, []), "--data", str(tmp_path / "nope")]
    result = CliRunner().invoke(wireloom, typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert f"{tmp_path}/nope" in result.stderr
    assert "does not exist" in result.stderr
    assert not list(tmp_path.iterdir())
