"""`wireloom generate`: bulk traffic from a seed, and the truth about it."""

from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from wireloom.cli.data import DataPath, on_this_machine
from wireloom.generate.wish import MIN_FRAMES, Wish
from wireloom.remote import AnyPath
from wireloom.wire.visible import visible


@click.command("generate")
@click.option(
    "--frames",
    type=click.IntRange(min=MIN_FRAMES),
    default=10_000,
    show_default=True,
    help="How many frames, within two percent.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of all random numbers.")
@click.option(
    "--damage",
    type=click.FloatRange(0, 0.5),
    default=0.02,
    show_default=True,
    help="Share of damaged frames, which no decoder accepts.",
)
@click.option(
    "--forged",
    type=click.FloatRange(0, 0.5),
    default=0.01,
    show_default=True,
    help="Share of forged frames, which decode and prove nothing.",
)
@click.option(
    "--sightings",
    type=click.IntRange(3, 19),
    default=5,
    show_default=True,
    help="How often a relayed frame is seen on average.",
)
@click.option(
    "--data",
    type=DataPath(),
    default="wireloom-data",
    show_default=True,
    help="Where to write; captures must not be there yet.",
)
def command(*, data: AnyPath, **wishes: Any) -> None:
    """Write believable traffic of all five protocols, and what became of every message in it.

    Captures go to DATA/captures, one log a node. DATA/truth.jsonl has the right fate of each
    message and destination, DATA/truth-counts.json the numbers. The same options give the
    same corpus.
    """
    from wireloom.generate.corpus import generate

    try:
        with _Bars() as bars:
            truth = generate(on_this_machine(data), Wish(**wishes), progress=bars.show)
    except OSError as error:
        raise click.ClickException(f"The corpus cannot be written: {error}.") from None
    counts = truth.counts()
    refused = sum(counts["quarantine"].values())
    click.echo(
        f"{counts['captured']} frames ({refused} damaged, {counts['forged']} forged) and the fates "
        f"of {counts['messages']} messages are in {visible(str(data))}."
    )


class _Bars(Progress):
    """A bar for each thing that takes time; nothing where no terminal is."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        super().__init__(*columns, console=console, disable=not console.is_terminal, transient=True)
        self._shown: dict[str, TaskID] = {}

    def show(self, what: str, done: int, total: int) -> None:
        """Moves the bar of `what`, which appears with its first report."""
        if what not in self._shown:
            self._shown[what] = self.add_task(what, total=total)
        self.update(self._shown[what], completed=done)
