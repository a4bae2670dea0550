"""What lies below `--data`."""

from pathlib import Path

from wireloom.cli.data import captures, tables


def test_captures_and_tables_have_their_folders() -> None:
    assert captures(Path("d")) == Path("d/captures")
    assert tables(Path("d")) == Path("d/tables")
