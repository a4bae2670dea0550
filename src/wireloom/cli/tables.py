"""`--tables`, and the tables that commands ask without Spark."""

from pathlib import Path

import click

from wireloom.cli.data import existing, tables
from wireloom.lake import Lake, LakeError

tables_option = click.option(
    "--tables",
    "root",
    metavar="ROOT",
    help="Root of the tables, if not below --data: a folder, or a URL on object storage.",
)


def lake(data: Path, root: str | None) -> Lake:
    """The tables at `--tables`, else those below `--data`.

    Raises:
        ClickException: If there are none.
    """
    try:
        return Lake(root or tables(existing(data)).absolute())
    except LakeError as error:
        raise click.ClickException(str(error)) from None
