"""What the commands that talk to a server have in common."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import click
import pytest
from click.testing import CliRunner

from wireloom.cli.clients import (
    FailedError,
    argument_or_input,
    run,
    show_all,
    until_stopped,
)
from wireloom.cli.misuse import MisuseError
from wireloom.live.clients import errors
from wireloom.live.tls import TlsError


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.UnsendableError("x"), 2),
        (errors.UnreachableError("x"), 3),
        (errors.LostError(1001), 3),
        (errors.AnswerTimeoutError("x"), 4),
        (errors.UnreadableError("x"), 5),
        (errors.HandshakeError("x", 404), 1),
        (errors.AssociationError("x"), 1),
    ],
)
def test_each_failure_has_its_status(error: errors.ClientError, status: int) -> None:
    async def fail() -> None:
        raise error

    with pytest.raises(FailedError) as failed:
        run(fail())
    assert (failed.value.exit_code, failed.value.message) == (status, str(error))


def test_files_that_are_no_use_are_misuse() -> None:
    async def fail() -> None:
        raise TlsError("x.pem is no certificate")

    with pytest.raises(MisuseError, match=r"x\.pem") as failed:
        run(fail())
    assert failed.value.exit_code == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_work_in_good_order(number: int) -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), number)
            await asyncio.sleep(10)
        finally:
            ended.append("in good order")

    run(until_stopped(work()))
    assert ended == ["in good order"]


def test_work_that_fails_fails() -> None:
    async def work() -> None:
        raise errors.ClosedError

    with pytest.raises(FailedError, match="not open"):
        run(until_stopped(work()))


def test_messages_go_to_standard_output_and_complaints_to_the_other() -> None:
    complained = asyncio.Event()

    async def messages() -> AsyncIterator[int]:
        await complained.wait()
        for number in range(5):
            yield number

    async def failures() -> AsyncIterator[errors.ClientError]:
        yield errors.ExpiredError("late")
        complained.set()

    @click.command
    @click.option("--count", type=int)
    def command(count: int | None) -> None:
        run(show_all(messages(), failures(), lambda number: f"got {number}", count))

    result = CliRunner().invoke(command, ["--count=2"])
    assert result.stdout == "got 0\ngot 1\n"
    assert result.stderr == "Warning: late\n"
    assert CliRunner().invoke(command).stdout.count("\n") == 5


def test_what_a_server_says_is_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    async def fail() -> None:
        raise errors.RefusedError("\x1b[2Jgone\n")

    with pytest.raises(FailedError) as failed:
        run(fail())
    assert failed.value.message == r"\x1b[2Jgone\n"


def test_a_dash_is_standard_input() -> None:
    @click.command
    @click.argument("text", required=False)
    def command(text: str | None) -> None:
        click.echo(repr(argument_or_input(text)))

    assert CliRunner().invoke(command, ["-"], input="typed").stdout == "'typed'\n"
    assert CliRunner().invoke(command, ["said"]).stdout == "'said'\n"
    assert CliRunner().invoke(command).stdout == "None\n"
