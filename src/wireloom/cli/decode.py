"""`wireloom decode`: frames in, one JSON object a line out."""

import json
import sys
from typing import BinaryIO

import click

from wireloom.cli.frames import (
    binary_frame,
    file_argument,
    hex_frames,
    protocol_argument,
    text_frames,
)
from wireloom.cli.shown import refused, show
from wireloom.registry import protocol as protocol_named
from wireloom.wire.errors import WireError
from wireloom.wire.keys import PUBLIC_KEY_SIZE
from wireloom.wire.visible import visible_json


class PublicKey(click.ParamType[bytes]):
    """A public key in hex."""

    name = "hex"

    def convert(
        self, value: str | bytes, param: click.Parameter | None, ctx: click.Context | None
    ) -> bytes:
        """The key's bytes."""
        try:
            key = value if isinstance(value, bytes) else bytes.fromhex(value)
        except ValueError:
            self.fail(f"{value!r} is not hex", param, ctx)
        if len(key) != PUBLIC_KEY_SIZE:
            self.fail(f"a public key has {PUBLIC_KEY_SIZE} bytes, not {len(key)}", param, ctx)
        return key


@click.command("decode")
@protocol_argument
@file_argument
@click.option("--binary", is_flag=True, help="The whole input is one frame.")
@click.option("--text", is_flag=True, help="One JSON message a line (signalhub).")
@click.option(
    "--key", "keys", multiple=True, type=PublicKey(), help="A public key to check with; repeatable."
)
def command(
    protocol: str, file: BinaryIO, *, binary: bool, text: bool, keys: tuple[bytes, ...]
) -> None:
    """Decode frames of PROTOCOL: one in hex a line of FILE or of standard input.

    Prints one JSON object a line. Exit status: 0 if every frame was accepted, 1 if any was
    refused, 2 for misuse.
    """
    if binary and text:
        raise click.UsageError("--binary and --text exclude each other.")
    if text and protocol != "signalhub":
        raise click.UsageError("--text is for signalhub: the other protocols are binary.")
    spoken = protocol_named(protocol)
    frames = (binary_frame if binary else text_frames if text else hex_frames)(file)
    out = sys.stdout.buffer
    all_accepted = True
    for frame in frames:
        shown = (
            refused(spoken, frame) if isinstance(frame, WireError) else show(spoken, frame, keys)
        )
        all_accepted &= shown["ok"]
        line = json.dumps(shown, ensure_ascii=False, allow_nan=False)
        out.write(visible_json(line).encode() + b"\n")
    out.flush()
    sys.exit(0 if all_accepted else 1)
