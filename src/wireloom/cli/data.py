"""`--data`, and what lies below it."""

from pathlib import Path

import click

from wireloom.cli.misuse import MisuseError

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


def existing(data: Path) -> Path:
    """`--data`, where it is a folder.

    Raises:
        MisuseError: If it is not there.
    """
    if not data.is_dir():
        raise MisuseError(
            f"{data} does not exist. Capture or import frames first, or name another --data."
        )
    return data
