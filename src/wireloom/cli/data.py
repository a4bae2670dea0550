"""`--data`, and what lies below it."""

from pathlib import Path
from typing import Any

import click

from wireloom.cli.misuse import MisuseError
from wireloom.remote import SCHEMES, AnyPath, RemotePath, any_path, reason


class DataPath(click.ParamType[AnyPath]):
    """A folder, or a location on object storage."""

    name = "directory"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> AnyPath:
        """The path; a local one is no file."""
        path = any_path(value)
        if isinstance(path, RemotePath):
            if not path.is_known:
                known = ", ".join(f"{scheme}://" for scheme in sorted(SCHEMES))
                self.fail(f"{path} is of no store that is known: {known}.", param, ctx)
            return path
        folder = click.Path(path_type=Path, file_okay=False)
        return folder.convert(path, param, ctx)


data_option = click.option(
    "--data",
    type=DataPath(),
    default="wireloom-data",
    show_default=True,
    help="Folder with captures/ and tables/; or its URL on object storage.",
)


def captures(data: AnyPath) -> AnyPath:
    """Where segments lie."""
    return data / "captures"


def tables(data: AnyPath) -> AnyPath:
    """Where tables lie."""
    return data / "tables"


def existing(data: AnyPath) -> AnyPath:
    """`--data`, where it is a folder.

    Raises:
        MisuseError: If it is not there.
        ClickException: If the store does not answer.
    """
    return there(data)


def there(folder: AnyPath) -> AnyPath:
    """A folder that has to be there.

    Raises:
        MisuseError: If it is not.
        ClickException: If the store does not answer.
    """
    try:
        is_there = folder.is_dir()
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{reason(error)}.") from None
    if not is_there:
        raise MisuseError(
            f"{folder} does not exist. Capture or import frames first, or name another --data."
        )
    return folder


def on_this_machine(data: AnyPath) -> Path:
    """`--data` of a command that knows no object storage.

    Raises:
        MisuseError: If it is on object storage.
    """
    if isinstance(data, RemotePath):
        raise MisuseError(
            f"{data} is on object storage, and this command needs a folder of this machine; "
            "name one with --data."
        )
    return data
