"""What the clients of all protocols have in common."""

import asyncio
from typing import Any

import pytest

from live.clients.processes import run
from live.clients.scripted import quick, scripted
from wireloom.live.clients.client import Client
from wireloom.live.clients.cthun import CthunClient
from wireloom.live.clients.errors import ClosedError, UnreachableError
from wireloom.live.clients.hub import HubClient


def clients(url: str) -> list[Client[Any]]:
    return [
        HubClient(url, "@(a/ada)", tuning=quick()),
        CthunClient(url, "cth://ann/agent", tuning=quick()),
    ]


def test_a_client_that_was_never_opened_can_be_closed() -> None:
    async def main() -> None:
        for client in clients("ws://127.0.0.1:1/"):
            await client.close()
            with pytest.raises(StopAsyncIteration):
                await anext(client.messages)

    run(main())


def test_a_first_attempt_that_fails_is_the_callers() -> None:
    async def main() -> None:
        for client in clients("ws://127.0.0.1:1/"):
            with pytest.raises(UnreachableError, match="nobody listens at ws:"):
                await client.open()

    run(main())


def test_a_client_that_is_not_open_sends_nothing() -> None:
    async def main() -> None:
        with pytest.raises(ClosedError):
            await HubClient("ws://127.0.0.1:1/", "@(a/ada)").tell("@(b)", "x")

    run(main())


def test_opening_may_be_given_up() -> None:
    async def main() -> None:
        async with scripted() as server:
            for client in clients(server.url):
                opening = asyncio.ensure_future(client.open())
                peer = await server.accept()
                opening.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await opening
                await peer.connection.wait_closed()

    run(main())
