"""Commands that wait for messages, and someone who sends them meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from threading import Thread
from typing import Any

from click.testing import CliRunner, Result

from wireloom.cli.main import wireloom


def invoke(*arguments: str, **more: Any) -> Result:
    return CliRunner().invoke(wireloom, list(arguments), **more)


def meanwhile(act: Callable[[], Awaitable[None]], *arguments: str) -> Result:
    """Runs a command while something else is done; gives the command's result."""
    problems: list[BaseException] = []

    async def limited() -> None:
        async with asyncio.timeout(20):
            await act()

    def body() -> None:
        try:
            asyncio.run(limited())
        except BaseException as error:
            problems.append(error)

    thread = Thread(target=body)
    thread.start()
    result = invoke(*arguments)
    thread.join()
    assert not problems, (problems, result.output)
    return result
