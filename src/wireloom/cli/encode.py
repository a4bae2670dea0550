"""`wireloom encode`: what `decode` printed, back to frames."""

import json
import sys
from typing import BinaryIO

import click

from wireloom.cli.frames import MAX_FRAME_SIZE, file_argument, lines, protocol_argument
from wireloom.cli.shown import hidden, refused
from wireloom.registry import WireProtocol
from wireloom.registry import protocol as protocol_named
from wireloom.wire import jsontext
from wireloom.wire.errors import WireError


@click.command("encode")
@protocol_argument
@file_argument
def command(protocol: str, file: BinaryIO) -> None:
    """Encode messages of PROTOCOL: JSON lines as `wireloom decode` prints them.

    Prints one frame a line in hex. What `decode` would refuse is refused: its line goes to
    standard error as a JSON object with the line's number. Exit status: 0 if every line was
    encoded, 1 if any was refused, 2 for misuse.
    """
    spoken = protocol_named(protocol)
    all_encoded = True
    for number, line in enumerate(lines(file, limit=4 * MAX_FRAME_SIZE), start=1):
        try:
            click.echo(_encoded(spoken, line).hex())
        except WireError as error:
            all_encoded = False
            click.echo(json.dumps({**refused(spoken, error), "line": number}), err=True)
    sys.exit(0 if all_encoded else 1)


def _encoded(spoken: WireProtocol, line: bytes | WireError) -> bytes:
    if isinstance(line, WireError):
        raise line
    return hidden(spoken, jsontext.load(line))
