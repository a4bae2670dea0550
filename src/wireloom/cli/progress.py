"""What goes on while long work is done, on standard error.

On a terminal it is one line that changes. Elsewhere it is a line for each stage, so that a log
says what was done; what changes often is left out there, or printed now and then.
"""

from math import inf
from time import monotonic
from typing import Self

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from wireloom.wire.visible import visible


class ProgressLine:
    """Progress, from its beginning to its end.

    Args:
        every_seconds: Where no terminal is, how often what changes is printed; by default never.
    """

    def __init__(self, *, every_seconds: float = inf) -> None:
        console = Console(stderr=True)
        self._every_seconds = every_seconds
        self._printed_at = monotonic()
        self._live: Progress | None = None
        if console.is_terminal:
            columns = (
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                TimeElapsedColumn(),
            )
            self._live = Progress(*columns, console=console, transient=True)
            self._task = self._live.add_task("")

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Removes the line that changes."""
        if self._live is not None:
            self._live.stop()

    def stage(self, text: str) -> None:
        """Shows that a stage begins."""
        if self._live is not None:
            self._live.update(self._task, description=visible(text))
        else:
            self.line(text)

    def say(self, text: str) -> None:
        """Shows how far the work has got."""
        if self._live is not None:
            self._live.update(self._task, description=visible(text))
        elif monotonic() - self._printed_at >= self._every_seconds:
            self._printed_at = monotonic()
            self.line(text)

    def counted(self, verb: str, done: int, count: int) -> None:
        """Shows how many of how many are done, with a bar."""
        self.say(f"{verb}, {done:,} of {count:,}")
        if self._live is not None:
            if not any(isinstance(column, BarColumn) for column in self._live.columns):
                self._live.columns = (*self._live.columns, BarColumn())
            self._live.update(self._task, completed=done, total=count)

    def table(self, verb: str, name: str, place: int, count: int) -> None:
        """Shows which table of how many is next."""
        self.say(f"{verb}, table {place} of {count}: {name}")

    def line(self, text: str) -> None:
        """Prints a line that stays."""
        if self._live is not None:
            self._live.console.print(visible(text), markup=False, highlight=False, soft_wrap=True)
        else:
            click.echo(visible(text), err=True)
