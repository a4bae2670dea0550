"""`wireloom encode`: what `decode` printed, back to frames."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

import click

from wireloom.cli.frames import MAX_FRAME_SIZE, file_argument, lines, protocol_argument
from wireloom.cli.identity import load
from wireloom.cli.misuse import MisuseError
from wireloom.cli.shown import hidden, refused
from wireloom.registry import WireProtocol
from wireloom.registry import protocol as protocol_named
from wireloom.wire import jsontext
from wireloom.wire.errors import WireError
from wireloom.wire.message import Message
from wireloom.wire.visible import visible_json

PROOFS: Final = {
    "cthun": "the certificate of its connection says who sent it",
    "signalhub": "the token of its connection says who sent it",
    "uep12": "it proves work, not its sender",
}
"""What a message has instead of a signature."""


@click.command("encode")
@protocol_argument
@file_argument
@click.option(
    "--sign",
    "identity",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Sign with this identity, which the messages must name as their sender (dtn, "
    "myriadmesh). wireloom keys new makes one.",
)
def command(protocol: str, file: BinaryIO, identity: Path | None) -> None:
    """Encode messages of PROTOCOL: JSON lines as `wireloom decode` prints them.

    Prints one frame a line in hex. What `decode` would refuse is refused: its line goes to
    standard error as a JSON object with the line's number. Exit status: 0 if every line was
    encoded, 1 if any was refused, 2 for misuse.
    """
    spoken = protocol_named(protocol)
    finish = _finisher(spoken, identity)
    all_encoded = True
    for number, line in enumerate(lines(file, limit=4 * MAX_FRAME_SIZE), start=1):
        try:
            click.echo(spoken.codec.encode(finish(_message(spoken, line))).hex())
        except WireError as error:
            all_encoded = False
            shown = json.dumps({**refused(spoken, error), "line": number}, ensure_ascii=False)
            click.echo(visible_json(shown), err=True)
    sys.exit(0 if all_encoded else 1)


def _message(spoken: WireProtocol, line: bytes | WireError) -> Message:
    if isinstance(line, WireError):
        raise line
    return hidden(spoken, jsontext.load(line))


def _finisher(spoken: WireProtocol, identity: Path | None) -> Callable[[Message], Message]:
    """What is done to a message before it is encoded."""
    if identity is None:
        return lambda message: message
    sign = spoken.sign
    if sign is None:
        raise MisuseError(
            f"--sign is for dtn and myriadmesh: a message of {spoken.name} has no signature, "
            f"{PROOFS[spoken.name]}."
        )
    key = load(identity)
    return lambda message: sign(message, key)
