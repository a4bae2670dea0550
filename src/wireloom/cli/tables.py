"""`--tables`, and the tables that commands ask without Spark."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from wireloom.cli.data import existing, tables
from wireloom.cli.misuse import LinesError
from wireloom.remote import AnyPath

if TYPE_CHECKING:
    from wireloom.lake import Lake

tables_option = click.option(
    "--tables",
    "root",
    metavar="ROOT",
    help="Root of the tables, if not below --data: a folder, or a URL on object storage.",
)


def lake(data: AnyPath, root: str | None) -> "Lake":
    """The tables at `--tables`, else those below `--data`.

    Raises:
        LakeError: If there are none.
    """
    from wireloom.lake import Lake

    return Lake(root or tables(existing(data)).absolute())


@contextmanager
def answering() -> Iterator[None]:
    """Tells a person why the tables do not answer."""
    from wireloom.lake import LakeError

    try:
        yield
    except LakeError as error:
        raise LinesError(str(error)) from None
