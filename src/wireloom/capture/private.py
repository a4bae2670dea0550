"""Files and folders that only their owner can read, whatever the umask says.

Captured frames and the store hold the messages of others. A symbolic link in the place of such a
file is refused: it could make this process write anywhere.
"""

import os
from errno import ELOOP
from pathlib import Path
from typing import Final

from wireloom.remote import AnyPath, RemotePath

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700


class LinkRefusedError(OSError):
    """A symbolic link lies in the place of a private file."""


def make_folder(folder: Path) -> None:
    """Makes a folder, and those above it, where they are missing; others stay as they are.

    Raises:
        OSError: If that cannot be done.
    """
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    folder.chmod(FOLDER_MODE)


def opener(path: str | os.PathLike[str], flags: int) -> int:
    """An opener for `open`: the file is readable by its owner only, and is no symbolic link.

    Raises:
        LinkRefusedError: If it is one.
        OSError: If it cannot be opened.
    """
    try:
        handle = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    except OSError as error:
        if error.errno == ELOOP:
            raise refusal(path) from None
        raise
    try:
        if os.fstat(handle).st_mode & 0o777 != FILE_MODE:
            os.fchmod(handle, FILE_MODE)
    except OSError:
        os.close(handle)
        raise
    return handle


def write_whole(path: AnyPath, data: bytes) -> None:
    """Writes a small file: its readers find all of it, or what was there before.

    Raises:
        OSError: If it cannot be written.
    """
    if isinstance(path, RemotePath):
        path.write_bytes(data)
        return
    made = path.with_suffix(".new")
    with open(made, "wb", opener=opener) as file:
        file.write(data)
    made.replace(path)


def refusal(path: str | os.PathLike[str]) -> LinkRefusedError:
    """The error for a symbolic link."""
    text = f"{os.fspath(path)} is a symbolic link, and nothing is written through one"
    return LinkRefusedError(ELOOP, text)
