"""`wireloom capture export`: captured frames for other tools."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from wireloom.capture.segment import Segment
from wireloom.cli.capture_data import Log, kept_segments, nodes_option
from wireloom.cli.data import data_option
from wireloom.remote import AnyPath

if TYPE_CHECKING:
    from wireloom.capture.pseudonyms import Pseudonyms


class Key(click.ParamType[bytes]):
    """A secret in hex."""

    name = "keyhex"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> bytes:
        """The bytes of the key."""
        try:
            key = bytes.fromhex(value)
        except ValueError:
            key = b""
        return key or self.fail("not a key: pairs of the digits 0-9 and a-f.", param, ctx)


@click.command("export")
@data_option
@nodes_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["jsonl", "pcapng"]),
    default="jsonl",
    show_default=True,
    help="JSON lines, or packets for tools that read pcapng.",
)
@click.option("--pseudonyms", "key", type=Key(), help="Replace names by HMACs under this key.")
@click.option(
    "--output", type=click.File("wb"), default="-", help="A file instead of standard output."
)
def export(
    data: AnyPath, *, nodes: tuple[str, ...], format_: str, key: bytes | None, output: BinaryIO
) -> None:
    """Write captured frames as JSON lines, or as pcapng for Wireshark, without tokens.

    Exit status: 0 if all were written, 1 if a part is damaged or too large for a packet, 2 for
    misuse.
    """
    from wireloom.capture.pseudonyms import Pseudonyms

    log = Log()
    found = kept_segments(data, nodes)
    taken = _rows(log, found, None if key is None else Pseudonyms(key))
    left_count = _write_pcapng(output, taken) if format_ == "pcapng" else _write(output, taken)
    output.flush()
    if left_count:
        click.echo(f"{left_count} frames are too large for a packet and left out.", err=True)
    sys.exit(1 if log.is_damaged or left_count else 0)


def _rows(
    log: Log, found: list[Segment], pseudonyms: "Pseudonyms | None"
) -> Iterator[dict[str, Any]]:
    from wireloom.capture.frame import rows
    from wireloom.capture.redaction import redacted

    for segment in found:
        for batch in log.batches(segment):
            for row in rows(batch):
                row["raw"] = redacted(row["protocol"], row["raw"])
                yield row if pseudonyms is None else pseudonyms.applied(row)


def _write(output: BinaryIO, taken: Iterator[dict[str, Any]]) -> int:
    from wireloom.capture.jsonl import put_line

    for row in taken:
        output.write(put_line(row))
    return 0


def _write_pcapng(output: BinaryIO, taken: Iterator[dict[str, Any]]) -> int:
    from wireloom.capture.pcapng import PcapngWriter

    writer = PcapngWriter(output)
    return sum(not writer.write(row) for row in taken)
