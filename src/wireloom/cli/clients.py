"""What the commands that talk to a server have in common."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import uvloop

from wireloom.cli.misuse import MisuseError
from wireloom.live.clients.errors import (
    AnswerTimeoutError,
    ClientError,
    LostError,
    UnreachableError,
    UnreadableError,
    UnsendableError,
)
from wireloom.live.tls import TlsError
from wireloom.wire.visible import visible

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])

STATUSES: Final[tuple[tuple[type[ClientError], int], ...]] = (
    (UnsendableError, 2),
    (UnreachableError, 3),
    (LostError, 3),
    (AnswerTimeoutError, 4),
    (UnreadableError, 5),
    (ClientError, 1),
)
"""Exit statuses by what went wrong, the first that fits."""

_FILE: Final = click.Path(path_type=Path, dir_okay=False)


class FailedError(click.ClickException):
    """A failure as a sentence and a status."""

    def __init__(self, error: ClientError) -> None:
        super().__init__(visible(str(error)))
        fitting = (status for kind, status in STATUSES if isinstance(error, kind))
        self.exit_code = next(fitting)  # type: ignore[misc]  # click declares it for the class


def shared_options(command: Command) -> Command:
    """The options that all of these commands have."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line."),
        click.option(
            "--ca", type=_FILE, help="Certificate of the authority that signed the server's, PEM."
        ),
        click.option("--certificate", type=_FILE, help="The client's certificate, PEM."),
        click.option("--key", type=_FILE, help="Its key, PEM."),
    ):
        command = option(command)
    return command


def url_option(default: str, variable: str, what: str) -> Callable[[Command], Command]:
    """Where the server is."""
    return click.option(
        "--url",
        default=default,
        show_default=True,
        envvar=variable,
        callback=_checked_url,
        help=what,
    )


def count_option(command: Command) -> Command:
    """How many messages to wait for."""
    return click.option(
        "--count", type=click.IntRange(min=1), help="End after this number of messages."
    )(command)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Runs a command's work; what fails is one sentence and a status."""
    try:
        uvloop.run(work)
    except ClientError as error:
        raise FailedError(error) from None
    except TlsError as error:
        raise MisuseError(str(error)) from None


def _checked_url(context: click.Context, option: click.Parameter, url: str) -> str:
    del context, option
    if not url.startswith(("ws://", "wss://")):
        raise MisuseError(f"{visible(url):.80} is no address of a WebSocket: use ws:// or wss://")
    return url


async def until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Runs the work until it is done or a signal ends it, which is no failure."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()


async def show_all(
    messages: AsyncIterator[T],
    failures: AsyncIterator[ClientError],
    show: Callable[[T], str],
    count: int | None,
) -> None:
    """Prints messages as they come, and what went wrong to standard error."""
    complaining = asyncio.ensure_future(_complain(failures))
    try:
        async for message in messages:
            click.echo(show(message))
            count = None if count is None else count - 1
            if count == 0:
                return
    finally:
        complaining.cancel()


async def _complain(failures: AsyncIterator[ClientError]) -> None:
    async for error in failures:
        click.echo(f"Warning: {visible(str(error))}", err=True)


def clock() -> str:
    """The time of day, as it stands before a message."""
    return f"{datetime.now().astimezone():%H:%M:%S}"


def argument_or_input(text: str | None) -> str | None:
    """An argument; a dash stands for standard input."""
    return sys.stdin.read() if text == "-" else text
