"""`wireloom capture import`: frames from files of other tools."""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import click
from rich.console import Console
from rich.progress import Progress

from wireloom.capture.fanout import Fanout
from wireloom.capture.importers.savefiles import (
    PCAP_MAGICS,
    PCAPNG_MAGIC,
    take_pcap,
    take_pcapng,
)
from wireloom.capture.importers.traffic import Traffic
from wireloom.capture.jsonl import take_lines
from wireloom.capture.record import Captured
from wireloom.capture.refusal import Refusal
from wireloom.capture.segment import quoted
from wireloom.cli.data import captures, data_option
from wireloom.wire.visible import visible

MAX_TOLD: Final = 10
"""Refusals that are told one by one; all are counted."""

PROGRESS_STEP: Final = 1_000
"""Frames between two movements of the progress bar."""


class Tally:
    """What an import took and what it did not."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()
        self.foreign: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def note(self, path: Path, item: Captured | Refusal) -> None:
        """Counts one item; tells of it if it is one of the first refusals."""
        if isinstance(item, Captured):
            self.taken[item.protocol or "unknown"] += 1
        elif item.is_foreign:
            self.foreign[item.reason] += 1
        else:
            self.refused[item.reason] += 1
            if self.refused.total() <= MAX_TOLD:
                detail = f": {item.detail}" if item.detail else ""
                told = visible(f"{path}, {item.place}: {item.reason}{detail}")
                click.echo(told, err=True)

    def tell(self) -> None:
        """The summary."""
        for title, counted in (
            ("taken", self.taken),
            ("passed over", self.foreign),
            ("refused", self.refused),
        ):
            what = ", ".join(f"{name} {count:,}" for name, count in counted.most_common())
            click.echo(f"{title} {counted.total():,}" + (f": {what}" if what else ""))


@click.command("import")
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)
@data_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["auto", "pcap", "pcapng", "jsonl"]),
    default="auto",
    show_default=True,
)
@click.option("--node", help="Who saw the packets of pcap and pcapng files [default: file's stem]")
def import_(files: tuple[Path, ...], *, data: Path, format_: str, node: str | None) -> None:
    """Take frames from pcap and pcapng FILEs, and from JSON lines.

    Exit status: 0 if all was taken but the traffic of other protocols, 1 if anything was refused or
    the disk does not take it, 2 for misuse.
    """
    folder = captures(data)
    tally = Tally()
    try:
        with Fanout(folder) as fanout:
            for path in files:
                _import(path, format_, node, fanout, tally)
    except OSError as error:
        tally.tell()
        raise click.ClickException(
            f"{folder} does not take the frames: {error.strerror or error}. The import stopped."
        ) from None
    tally.tell()
    sys.exit(1 if tally.refused else 0)


def _import(path: Path, format_: str, node: str | None, fanout: Fanout, tally: Tally) -> None:
    with path.open("rb") as file, _progress() as progress:
        task = progress.add_task(path.name, total=path.stat().st_size)
        for count, item in enumerate(_items(path, file, format_, node)):
            tally.note(path, item)
            if isinstance(item, Captured):
                fanout.append(item)
            if count % PROGRESS_STEP == 0:
                progress.update(task, completed=file.tell())


def _progress() -> Progress:
    console = Console(stderr=True)
    return Progress(console=console, transient=True, disable=not console.is_terminal)


def _items(
    path: Path, file: BinaryIO, format_: str, node: str | None
) -> Iterator[Captured | Refusal]:
    kind = _detected(file) if format_ == "auto" else format_
    if kind == "jsonl":
        return take_lines(file)
    if kind is None:
        return iter([Refusal("file header", "neither pcap nor pcapng nor JSON lines")])
    packets = take_pcap(file) if kind == "pcap" else take_pcapng(file)
    return Traffic(_named(path, node)).take(packets)


def _detected(file: BinaryIO) -> str | None:
    begin = file.read(512)
    file.seek(0)
    if begin[:4] in PCAP_MAGICS:
        return "pcap"
    if begin.startswith(PCAPNG_MAGIC):
        return "pcapng"
    return "jsonl" if begin.lstrip()[:1] in (b"{", b"") else None


def _named(path: Path, node: str | None) -> str:
    name = path.stem if node is None else node
    try:
        quoted(name)
    except ValueError as error:
        raise click.UsageError(f"--node: {error}.") from None
    return name
