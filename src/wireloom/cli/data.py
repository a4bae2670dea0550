"""`--data`, and what lies below it."""

from pathlib import Path

import click

data_option = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("wireloom-data"),
    show_default=True,
    help="Folder with captures/ and tables/.",
)


def captures(data: Path) -> Path:
    """Where segments lie."""
    return data / "captures"


def tables(data: Path) -> Path:
    """Where tables lie."""
    return data / "tables"
