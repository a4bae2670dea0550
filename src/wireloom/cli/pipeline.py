"""`wireloom pipeline`: from captured frames to tables."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from pyspark.sql import SparkSession
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from wireloom.cli.data import captures, data_option, tables
from wireloom.cli.tables import tables_option
from wireloom.pipeline import run as running
from wireloom.pipeline import upkeep
from wireloom.pipeline.spark import JavaMissingError, session
from wireloom.pipeline.stages.ingest import Ingested
from wireloom.pipeline.tables import Store

F = TypeVar("F", bound=Callable[..., Any])


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
def run(data: Path, root: str | None, master: str | None, conf: tuple[str, ...]) -> None:
    """Bring the tables up to date with all that is captured, and end."""
    folder, store = _captures(data), _store(data, root)
    with _spark(master, conf) as (spark, told):
        ran = running.run(spark, folder, store, told=told)
    counts = {"frames": f"{ran.frames:,} new", "quarantine": f"{ran.quarantine:,} new"}
    counts |= {name: f"{rows:,} rows" for name, rows in ran.tables.items()}
    times = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in ran.seconds.items())
    _print({**counts, "took": times})


@command.command("watch")
@spark_options
def watch(data: Path, root: str | None, master: str | None, conf: tuple[str, ...]) -> None:
    """Keep the tables up to date with what is being captured, until interrupted."""
    folder, store = _captures(data), _store(data, root)
    asked: list[int] = []
    _hear(asked)
    with _spark(master, conf) as (spark, told):
        _hear(asked)  # Spark's own handler would end a pass halfway with a traceback
        running.watch(spark, folder, store, told=told, stopped=lambda: bool(asked))


@command.command("reprocess")
@spark_options
def reprocess(data: Path, root: str | None, master: str | None, conf: tuple[str, ...]) -> None:
    """Decode stored frames anew that another version decoded, and bring all tables up to date."""
    store = _store(data, root)
    with _spark(master, conf) as (spark, told):
        good, bad = running.reprocess(spark, store, told=told)
    if not good + bad:
        click.echo("All frames were decoded by this version: nothing to do.")
        return
    _print({"frames": f"{good:,} decoded anew", "quarantine": f"{bad:,} refused anew"})


@command.command("status")
@data_option
@tables_option
def status(data: Path, root: str | None) -> None:
    """Show what is captured, what is stored, and what cannot be read."""
    found = upkeep.status(_captures(data), _store(data, root))
    click.echo(f"captured {found.captured:,}, stored {found.stored:,}, behind {found.behind:,}")
    for damage in found.damaged:
        click.echo(f"damaged: {damage.segment.name}, batch {damage.batch}: {damage.detail}")
    table = Table("table", "version", "files", "rows")
    for one in found.tables:
        table.add_row(one.name, str(one.version), f"{one.files:,}", f"{one.rows:,}")
    Console().print(table)


@command.command("compact")
@data_option
@tables_option
def compact(data: Path, root: str | None) -> None:
    """Put the tables' small files together."""
    gone = upkeep.compact(_store(data, root))
    _print({name: f"{count:,} files fewer" for name, count in gone.items()})


@command.command("vacuum")
@data_option
@tables_option
@click.option("--hours", default=168, show_default=True, help="Keep files this young.")
def vacuum(data: Path, root: str | None, hours: int) -> None:
    """Delete files that no recent version of a table needs."""
    gone = upkeep.vacuum(_store(data, root), hours=hours)
    _print({name: f"{count:,} files deleted" for name, count in gone.items()})


def _hear(asked: list[int]) -> None:
    """Notes that somebody wants an end, instead of ending at once."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda number, _: asked.append(number))


def _captures(data: Path) -> Path:
    folder = captures(data)
    if not folder.is_dir():
        raise click.ClickException(
            f"{folder} does not exist. Capture or import frames first, or name another --data."
        )
    return folder.absolute()


def _store(data: Path, root: str | None) -> Store:
    return Store(root or tables(data).absolute())


@contextmanager
def _spark(
    master: str | None, conf: tuple[str, ...]
) -> Iterator[tuple[SparkSession, running.Told]]:
    """A session, and progress on standard error while it works."""
    settings = dict(one.partition("=")[::2] for one in conf)
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting Spark")
        try:
            spark = session(master=master, settings=settings)
        except JavaMissingError as error:
            raise click.ClickException(str(error)) from None
        try:
            yield spark, _told(progress, task)
        finally:
            spark.stop()


def _told(progress: Progress, task: Any) -> running.Told:
    count = 0

    def say(text: str) -> None:
        progress.update(task, description=text)

    def batch(ingested: Ingested) -> None:
        nonlocal count
        count += ingested.frames + ingested.quarantine
        say(f"ingest: {count:,} frames")

    return running.Told(batch, say, lambda name, rows: say(f"analyse: {name}, {rows:,} rows"))


def _print(lines: dict[str, str]) -> None:
    for name, text in lines.items():
        click.echo(f"{name:<17} {text}")
