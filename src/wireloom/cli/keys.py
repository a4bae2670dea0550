"""`wireloom keys`: Ed25519 identities in files that only their owner can read."""

import json
import os
import secrets
from pathlib import Path
from typing import Final

import click

from wireloom.protocols.dtn.identity import myc_tag
from wireloom.protocols.myriadmesh.integrity import node_id
from wireloom.wire.keys import SEED_SIZE, SigningKey, uid

MODE: Final = 0o600
KIND: Final = "wireloom-ed25519-identity"

path_argument = click.argument("path", type=click.Path(path_type=Path, dir_okay=False))


@click.group("keys")
def command() -> None:
    """Make and show Ed25519 identities."""


@command.command("new")
@path_argument
def new(path: Path) -> None:
    """Write a new identity to PATH, which must not exist yet, with mode 0600."""
    key = SigningKey(secrets.token_bytes(SEED_SIZE))
    text = json.dumps({"kind": KIND, "seed": key.seed.hex(), "public_key": key.public.hex()})
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE)
    except FileExistsError:
        raise click.ClickException(
            f"{path} exists already. An identity is never overwritten: choose another name."
        ) from None
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}.") from None
    with os.fdopen(handle, "w") as file:
        os.fchmod(handle, MODE)
        file.write(text + "\n")
    _print(key)


@command.command("show")
@path_argument
def show(path: Path) -> None:
    """Print what the identity in PATH is called in each protocol; never its secret."""
    _print(load(path))


def load(path: Path) -> SigningKey:
    """The identity in `path`.

    Raises:
        ClickException: If it cannot be read, is no identity, or others can read it.
    """
    try:
        mode = path.stat().st_mode & 0o777
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(f"{path} cannot be read: {error}.") from None
    if mode & 0o077:
        raise click.ClickException(
            f"{path} can be read by others (mode {mode:04o}). Type: chmod 600 {path}"
        )
    try:
        seed = bytes.fromhex(json.loads(text)["seed"])
    except (ValueError, KeyError, TypeError):
        seed = b""
    if len(seed) != SEED_SIZE:
        raise click.ClickException(f"{path} holds no identity. Make one: wireloom keys new PATH")
    return SigningKey(seed)


def _print(key: SigningKey) -> None:
    click.echo(f"public key  {key.public.hex()}")
    click.echo(f"UID         {uid(key.public).hex()}")
    click.echo(f"MycTag      {myc_tag(key.public)}")
    click.echo(f"node id     {node_id(key.public).hex()}")
