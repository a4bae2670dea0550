"""Identities in files: an Ed25519 key that only its owner can read."""

import json
import os
import shlex
from pathlib import Path
from typing import Final

from wireloom.cli.misuse import MisuseError
from wireloom.wire.keys import SEED_SIZE, SigningKey

MODE: Final = 0o600
KIND: Final = "wireloom-ed25519-identity"

MAX_SIZE: Final = 4096
"""An identity takes some 200 bytes; nothing longer is read."""


def write(path: Path, key: SigningKey) -> None:
    """Writes an identity to a file that is not there yet.

    Raises:
        FileExistsError: If it is.
        OSError: If it cannot be written.
    """
    text = json.dumps({"kind": KIND, "seed": key.seed.hex(), "public_key": key.public.hex()})
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE)
    with os.fdopen(handle, "w") as file:
        os.fchmod(handle, MODE)
        file.write(text + "\n")


def load(path: Path) -> SigningKey:
    """The identity in `path`.

    Raises:
        MisuseError: If it cannot be read, is no identity, or others can read it.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777
            seed = _seed(file.read(MAX_SIZE + 1))
    except OSError as error:
        raise MisuseError(f"{path} cannot be read: {error.strerror}.") from None
    if seed is None:
        raise MisuseError(f"{path} holds no identity. Make one: wireloom keys new PATH")
    if mode & 0o077:
        raise MisuseError(
            f"{path} can be read by others (mode {mode:04o}). "
            f"Type: chmod 600 {shlex.quote(str(path))}"
        )
    return SigningKey(seed)


def _seed(content: bytes) -> bytes | None:
    """The seed that a file holds, or None: what is no identity is not to be touched."""
    if len(content) > MAX_SIZE:
        return None
    try:
        seed = bytes.fromhex(json.loads(content)["seed"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return seed if len(seed) == SEED_SIZE else None
