"""What lies below `--data`."""

from pathlib import Path

import click
import pytest

from wireloom.cli.data import captures, existing, tables


def test_captures_and_tables_have_their_folders() -> None:
    assert captures(Path("d")) == Path("d/captures")
    assert tables(Path("d")) == Path("d/tables")


def test_a_data_folder_is_there_or_it_is_misuse(tmp_path: Path) -> None:
    assert existing(tmp_path) == tmp_path
    with pytest.raises(click.BadParameter, match="does not exist"):
        existing(tmp_path / "nope")
