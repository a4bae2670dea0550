"""Files that let someone in: what may stand in them, and who may have written it."""

from pathlib import Path
from typing import Final

MIN_SHARED_SIZE: Final = 32
"""Bytes of the secret behind HS256: as many as its digests have (RFC 7518, 3.2)."""

_MAX_SIZE: Final = 65_536
_WRITABLE_BY_OTHERS: Final = 0o022


class SecretFileError(Exception):
    """A file cannot be trusted or used; the text says which and why."""


def check_guarded(path: Path) -> None:
    """Refuses a file that others than its owner may have written.

    Raises:
        SecretFileError: If its group or everybody can write it, or it cannot be seen.
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise SecretFileError(f"{path} cannot be read: {error.strerror}") from None
    if mode & _WRITABLE_BY_OTHERS:
        raise SecretFileError(
            f"{path} can be written by others than its owner, so anyone of them could let "
            f"themselves in; take that away with: chmod go-w {path}"
        )


def shared_secret(path: Path) -> bytes:
    """The secret that a hub shares with those who make tokens; white space around it is no part.

    Raises:
        SecretFileError: If others can write the file, or the secret is too short to be one.
    """
    check_guarded(path)
    try:
        with path.open("rb") as file:
            found = file.read(_MAX_SIZE).strip()
    except OSError as error:
        raise SecretFileError(f"{path} cannot be read: {error.strerror}") from None
    if len(found) < MIN_SHARED_SIZE:
        raise SecretFileError(
            f"the secret in {path} has {len(found)} bytes, and {MIN_SHARED_SIZE} are needed; "
            f"make one with: openssl rand -hex 32 > {path}"
        )
    return found
