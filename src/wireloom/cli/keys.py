"""`wireloom keys`: Ed25519 identities in files that only their owner can read."""

import secrets
from pathlib import Path

import click

from wireloom.cli.identity import load, write
from wireloom.protocols.dtn.identity import myc_tag
from wireloom.protocols.myriadmesh.integrity import node_id
from wireloom.wire.keys import SEED_SIZE, SigningKey, uid

path_argument = click.argument("path", type=click.Path(path_type=Path, dir_okay=False))


@click.group("keys")
def command() -> None:
    """Make and show Ed25519 identities."""


@command.command("new")
@path_argument
def new(path: Path) -> None:
    """Write a new identity to PATH, which must not exist yet, with mode 0600."""
    key = SigningKey(secrets.token_bytes(SEED_SIZE))
    try:
        write(path, key)
    except FileExistsError:
        raise click.ClickException(
            f"{path} exists already. An identity is never overwritten: choose another name."
        ) from None
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}.") from None
    _print(key)


@command.command("show")
@path_argument
def show(path: Path) -> None:
    """Print what the identity in PATH is called in each protocol; never its secret."""
    _print(load(path))


def _print(key: SigningKey) -> None:
    click.echo(f"public key  {key.public.hex()}")
    click.echo(f"UID         {uid(key.public).hex()}")
    click.echo(f"MycTag      {myc_tag(key.public)}")
    click.echo(f"node id     {node_id(key.public).hex()}")
