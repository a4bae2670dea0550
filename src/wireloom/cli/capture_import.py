"""`wireloom capture import`: frames from files of other tools."""

import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import click
from rich.console import Console
from rich.progress import Progress

from wireloom.capture.refusal import Refusal, UnreadableError
from wireloom.capture.segment import quoted
from wireloom.cli.data import captures, data_option
from wireloom.remote import AnyPath
from wireloom.wire.visible import visible

if TYPE_CHECKING:
    from wireloom.capture.fanout import Fanout
    from wireloom.capture.frame import CapturedFrame

MAX_TOLD: Final = 10
"""Refusals that are told one by one; all are counted."""

STDIN: Final = Path("-")
STDIN_NODE: Final = "stdin"
BEGIN_SIZE: Final = 512
"""Bytes that tell a file's format."""

SUFFIXES: Final = (".gz", ".zst")
"""What a compressed file's name ends with."""

PROGRESS_STEP: Final = 1_000
"""Frames between two movements of the progress bar."""


class Tally:
    """Counts what an import has taken, passed over and refused."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()
        self.foreign: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def note(self, path: Path, item: "CapturedFrame | Refusal") -> None:
        """Counts one item; tells of it if it is one of the first refusals."""
        if not isinstance(item, Refusal):
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
    type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True),
)
@data_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["auto", "pcap", "pcapng", "jsonl"]),
    default="auto",
    show_default=True,
    help="Format of FILES; auto recognises it by the first bytes.",
)
@click.option("--node", help="Who saw the packets of pcap and pcapng files [default: file's stem]")
@click.option("--again", is_flag=True, help="Also import what was imported before.")
def import_(
    files: tuple[Path, ...], *, data: AnyPath, format_: str, node: str | None, again: bool
) -> None:
    """Take frames from pcap and pcapng FILEs, and from JSON lines; `-` is standard input.

    Files may be compressed with gzip or zstd. A file that was imported before is passed over.

    Exit status: 0 if all was taken but the traffic of other protocols, 1 if anything was refused or
    the disk does not take it, 2 for misuse.
    """
    from wireloom.capture.imports import Imports, key_of
    from wireloom.capture.staging import appending

    folder = captures(data)
    tally, imports = Tally(), Imports(folder)
    try:
        with appending(folder) as fanout:
            for path in files:
                with _opened(path) as file:
                    key = key_of(file, node)
                    if again or not _is_known(path, imports.before(key)):
                        _import(path, file, format_, node, fanout, tally)
                        imports.add(key)
        if any(tally.taken):
            imports.save()
    except KeyboardInterrupt:
        tally.tell()
        click.echo(
            "stopped; what was taken stays, and is taken twice if you import again", err=True
        )
        raise
    except OSError as error:
        tally.tell()
        raise click.ClickException(
            f"{folder} does not take the frames: {error.strerror or error}. The import stopped."
        ) from None
    tally.tell()
    sys.exit(1 if tally.refused else 0)


def _is_known(path: Path, before: str | None) -> bool:
    if before is not None:
        said = f"{path}: imported before on {before}; use --again to import it once more"
        click.echo(visible(said), err=True)
    return before is not None


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A file that can be read twice: standard input is kept until its end."""
    if path != STDIN:
        with path.open("rb") as file:
            yield file
        return
    with TemporaryFile() as kept:
        shutil.copyfileobj(sys.stdin.buffer, kept)
        yield cast("BinaryIO", kept)


def _import(
    path: Path, file: BinaryIO, format_: str, node: str | None, fanout: "Fanout", tally: Tally
) -> None:
    from wireloom.capture.importers.inputs import decompressed

    with _progress() as progress:
        task = progress.add_task(path.name, total=file.seek(0, 2))
        file.seek(0)
        for count, item in enumerate(_readable(_items(path, decompressed(file), format_, node))):
            tally.note(path, item)
            if not isinstance(item, Refusal):
                fanout.append(item)
            if count % PROGRESS_STEP == 0:
                progress.update(task, completed=file.tell())


def _readable(items: "Iterator[CapturedFrame | Refusal]") -> "Iterator[CapturedFrame | Refusal]":
    """The items up to where the file cannot be read on."""
    try:
        yield from items
    except UnreadableError as error:
        reason, _, detail = str(error).partition(": ")
        yield Refusal("compressed file", reason, detail or "the rest is lost")


def _progress() -> Progress:
    console = Console(stderr=True)
    return Progress(console=console, transient=True, disable=not console.is_terminal)


def _items(
    path: Path, file: BinaryIO, format_: str, node: str | None
) -> "Iterator[CapturedFrame | Refusal]":
    from wireloom.capture.importers.savefiles import take_pcap, take_pcapng
    from wireloom.capture.importers.traffic import Traffic
    from wireloom.capture.jsonl import take_lines

    kind = _detected(file) if format_ == "auto" else format_
    if kind == "jsonl":
        yield from take_lines(file)
    elif kind is None:
        yield Refusal("file header", "neither pcap nor pcapng nor JSON lines")
    else:
        packets = take_pcap(file) if kind == "pcap" else take_pcapng(file)
        yield from Traffic(_named(path, node)).take(packets)


def _detected(file: BinaryIO) -> str | None:
    from wireloom.capture.importers.savefiles import PCAP_MAGICS, PCAPNG_MAGIC

    begin = cast("BufferedReader", file).peek(BEGIN_SIZE)
    if begin[:4] in PCAP_MAGICS:
        return "pcap"
    if begin.startswith(PCAPNG_MAGIC):
        return "pcapng"
    return "jsonl" if begin.lstrip()[:1] in (b"{", b"") else None


def _named(path: Path, node: str | None) -> str:
    whole = path.with_suffix("") if path.suffix in SUFFIXES else path
    name = (STDIN_NODE if path == STDIN else whole.stem) if node is None else node
    try:
        quoted(name)
    except ValueError as error:
        raise click.UsageError(f"--node: {error}.") from None
    return name
