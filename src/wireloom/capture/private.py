"""Files and folders that only their owner can read, whatever the umask says.

Captured frames hold what others said to each other, and the store what they are still owed. A
symbolic link in the place of such a file is refused: whoever put it there chose where we write.
"""

import os
from errno import ELOOP
from pathlib import Path
from typing import Final

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700


class LinkRefusedError(OSError):
    """A symbolic link lies where a file of ours should be."""


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
    """For `open`: what it opens or makes is the owner's alone, and is no symbolic link.

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


def refusal(path: str | os.PathLike[str]) -> LinkRefusedError:
    """The sentence about a symbolic link."""
    said = f"{os.fspath(path)} is a symbolic link, and nothing is written through one"
    return LinkRefusedError(ELOOP, said)
