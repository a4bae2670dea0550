"""`wireloom pipeline`: from captured frames to tables."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from wireloom.cli.data import captures, data_option, tables, there
from wireloom.cli.progress import ProgressLine
from wireloom.cli.tables import tables_option
from wireloom.cli.terminal import Grid, console, line
from wireloom.remote import AnyPath

if TYPE_CHECKING:
    from wireloom.pipeline.progress import Progress
    from wireloom.pipeline.stages.ingest import IngestedBatch
    from wireloom.pipeline.store import TableStore

F = TypeVar("F", bound=Callable[..., Any])

MINUTE: Final = 60.0
STAGES: Final = {
    "ingest": "ingest: captured frames to frames, quarantine and batched",
    "refine": "refine: keys and verdicts",
    "analyse": "analyse: all other tables",
    "reprocess": "reprocess: frames that another version decoded",
}
"""What each stage does, for a person."""


def spark_options(function: F) -> F:
    """The options of commands that need Spark."""
    master = click.option("--master", help="Spark master; all cores of this machine by default.")
    conf = click.option(
        "--conf", multiple=True, metavar="KEY=VALUE", help="A Spark setting; repeatable."
    )
    return data_option(tables_option(master(conf(function))))


@click.group("pipeline")
def command() -> None:
    """Turn captured frames into tables, on Spark."""


@command.command("run")
@spark_options
def run(data: AnyPath, root: str | None, master: str | None, conf: tuple[str, ...]) -> None:
    """Bring the tables up to date with all that is captured, and end."""
    from wireloom.cli.faults import explained
    from wireloom.cli.spark import started
    from wireloom.pipeline import run as running
    from wireloom.pipeline.alone import alone

    folder, store = _captures(data), _store(data, root)
    with (
        ProgressLine() as shown,
        explained(store),
        alone(store),
        started(master, conf, shown) as spark,
    ):
        result = running.run(spark, folder, store, progress=_progress(shown))
    counts = {"frames": f"{result.frames:,} new", "quarantine": f"{result.quarantine:,} new"}
    counts |= {name: f"{rows:,} rows" for name, rows in result.tables.items()}
    times = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in result.seconds.items())
    _print({**counts, "took": times})


@command.command("watch")
@spark_options
def watch(data: AnyPath, root: str | None, master: str | None, conf: tuple[str, ...]) -> None:
    """Keep the tables up to date with what is being captured, until interrupted."""
    from wireloom.cli.faults import explained
    from wireloom.cli.spark import started
    from wireloom.pipeline import watch as watching
    from wireloom.pipeline.alone import alone

    folder, store = _captures(data), _store(data, root)
    asked: list[bool] = []
    with ProgressLine(every_seconds=MINUTE) as shown:

        def stop() -> None:
            asked.append(True)
            shown.stage("ending; interrupt once more to end at once")

        with (
            explained(store),
            alone(store),
            started(master, conf, shown, on_signal=stop) as spark,
        ):
            shown.stage("watching")
            progress = WatchProgress(shown).progress
            watching.watch(spark, folder, store, progress=progress, stopped=lambda: bool(asked))


@command.command("reprocess")
@spark_options
def reprocess(data: AnyPath, root: str | None, master: str | None, conf: tuple[str, ...]) -> None:
    """Decode stored frames anew that another version decoded, and bring all tables up to date."""
    from wireloom.cli.faults import explained
    from wireloom.cli.spark import started
    from wireloom.pipeline import run as running
    from wireloom.pipeline.alone import alone

    store = _store(data, root)
    with (
        ProgressLine() as shown,
        explained(store),
        alone(store),
        started(master, conf, shown) as spark,
    ):
        good, bad = running.reprocess(spark, store, progress=_progress(shown))
    if not good + bad:
        click.echo("All frames were decoded by this version: nothing to do.")
        return
    _print({"frames": f"{good:,} decoded anew", "quarantine": f"{bad:,} refused anew"})


@command.command("status")
@data_option
@tables_option
def status(data: AnyPath, root: str | None) -> None:
    """Show what is captured, what is stored, and what cannot be read."""
    from wireloom.capture.reader import NO_BATCH
    from wireloom.pipeline import upkeep

    found = upkeep.status(_captures(data), _store(data, root))
    screen = console()
    screen.print(f"captured {found.captured:,}, stored {found.stored:,}, behind {found.behind:,}")
    for damage in found.damaged:
        batch = "" if damage.batch == NO_BATCH else f", batch {damage.batch}"
        screen.print(
            line(f"damaged: {damage.segment.name}{batch}: {damage.detail}"), soft_wrap=True
        )
    for one in found.passed_over:
        screen.print(line(f"passed over: {one.name}: {one.detail}"), soft_wrap=True)
    grid = Grid("table", "version", "files", "rows", right=("version", "files", "rows"))
    for table in found.tables:
        grid.add(table.name, str(table.version), f"{table.files:,}", f"{table.rows:,}")
    grid.draw(screen)


@command.command("compact")
@data_option
@tables_option
def compact(data: AnyPath, root: str | None) -> None:
    """Put the tables' small files together."""
    from wireloom.pipeline import upkeep

    with ProgressLine() as shown:
        on_start = partial(shown.table, "compact")
        removed = upkeep.compact(_store(data, root), on_start=on_start)
    _print({name: f"{count:,} files fewer" for name, count in removed.items()})


@command.command("vacuum")
@data_option
@tables_option
@click.option(
    "--hours", default=168, show_default=True, help="Keep files that are younger than this."
)
def vacuum(data: AnyPath, root: str | None, hours: int) -> None:
    """Delete files that no recent version of a table needs."""
    from wireloom.pipeline import upkeep

    with ProgressLine() as shown:
        on_start = partial(shown.table, "vacuum")
        removed = upkeep.vacuum(_store(data, root), hours=hours, on_start=on_start)
    _print({name: f"{count:,} files deleted" for name, count in removed.items()})


def _captures(data: AnyPath) -> AnyPath:
    return there(captures(data)).absolute()


def _store(data: AnyPath, root: str | None) -> "TableStore":
    from wireloom.pipeline.store import TableStore

    return TableStore(root or str(tables(there(data)).absolute()))


def _progress(shown: ProgressLine) -> "Progress":
    """Shows how far a run has got."""
    from wireloom.pipeline.progress import Progress

    count = 0

    def batch(ingested: "IngestedBatch") -> None:
        nonlocal count
        count += ingested.frames + ingested.quarantine
        shown.say(f"ingest: {count:,} frames")

    return Progress(
        batch=batch,
        stage=lambda name: shown.stage(STAGES[name]),
        table_started=partial(shown.table, "analyse"),
        slice=lambda done, last: shown.say(f"reprocess, slice {done} of {last}"),
    )


class WatchProgress:
    """The progress of a watch, in one line.

    Args:
        shown: Where that line is.
    """

    def __init__(self, shown: ProgressLine) -> None:
        from wireloom.pipeline.progress import Progress

        self.progress = Progress(batch=self._batch, table=self._table, trouble=shown.line)
        self._shown = shown
        self._since = monotonic()
        self._frames = 0
        self._last = ""

    def _batch(self, ingested: "IngestedBatch") -> None:
        self._frames += ingested.frames + ingested.quarantine
        self._say()

    def _table(self, name: str, rows: int) -> None:
        del rows
        self._last = f"; {name} brought up to date at {datetime.now():%H:%M:%S}"
        self._say()

    def _say(self) -> None:
        rate = self._frames / max(1.0, monotonic() - self._since)
        self._shown.say(f"{self._frames:,} frames, {rate:,.0f} a second{self._last}")


def _print(lines: dict[str, str]) -> None:
    for name, text in lines.items():
        click.echo(f"{name:<17} {text}")
