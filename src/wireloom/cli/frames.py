"""Reading frames from a file or standard input, in bounded memory."""

from collections.abc import Iterator
from typing import BinaryIO, Final

import click

from wireloom.registry import NAMES
from wireloom.wire.errors import MalformedError, TooLargeError, WireError

MAX_FRAME_SIZE: Final = 64 * 1024 * 1024 + 1024 * 1024
"""More than the largest frame of any protocol (Cthun: 64 MiB), so that its codec decides."""

protocol_argument = click.argument("protocol", type=click.Choice(NAMES))
file_argument = click.argument("file", type=click.File("rb"), default="-")


def lines(file: BinaryIO, *, limit: int) -> Iterator[bytes | WireError]:
    """The lines of `file` without their ends; one longer than `limit` is a refusal."""
    while line := file.readline(limit):
        if line.endswith(b"\n") or len(line) < limit:
            yield line.rstrip(b"\r\n")
            continue
        while (rest := file.readline(limit)) and not rest.endswith(b"\n"):
            pass
        yield TooLargeError(f"the line is longer than {limit} bytes")


def hex_frames(file: BinaryIO) -> Iterator[bytes | WireError]:
    """One frame a line, in hex."""
    for line in lines(file, limit=2 * MAX_FRAME_SIZE):
        yield line if isinstance(line, WireError) else from_hex(line)


def text_frames(file: BinaryIO) -> Iterator[bytes | WireError]:
    """One JSON message a line."""
    return lines(file, limit=MAX_FRAME_SIZE)


def binary_frame(file: BinaryIO) -> Iterator[bytes | WireError]:
    """The whole input is one frame."""
    raw = file.read(MAX_FRAME_SIZE + 1)
    if len(raw) > MAX_FRAME_SIZE:
        yield TooLargeError(f"the input is longer than {MAX_FRAME_SIZE} bytes")
    else:
        yield raw


def from_hex(text: bytes) -> bytes | WireError:
    """The bytes that `text` spells in hex."""
    try:
        return bytes.fromhex(text.decode("ascii"))
    except ValueError:
        return MalformedError("the line is not hex: an even number of digits 0-9 and a-f")
