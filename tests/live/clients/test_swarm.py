"""A client of a swarm, with real sockets, and a real node at the other end."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from live.clients.processes import run
from live.parts import until
from live.peers import Node
from wireloom.live.clients.errors import (
    AnswerTimeoutError,
    ClosedError,
    UnreachableError,
    UnsendableError,
)
from wireloom.live.clients.swarm import SwarmClient
from wireloom.live.clients.tuning import Tuning

QUICK = Tuning(dial_seconds=0.5, goodbye_seconds=0.5)


def with_node(folder: Path, test: Callable[[Node], Awaitable[None]]) -> None:
    async def work() -> None:
        node = Node(folder / "node", ())
        await node.start()
        try:
            await test(node)
        finally:
            await node.stop()

    run(work(), 50)


def test_a_post_returns_when_the_other_peer_has_it_and_reaches_who_reads(tmp_path: Path) -> None:
    async def test(node: Node) -> None:
        async with SwarmClient(node.address) as ada, SwarmClient(node.address) as bob:
            msg_hash = await ada.post(b"hello", ttl_epochs=5)
            assert node.session.swarms["tea"].flow.knows(msg_hash, 0)
            received = await anext(bob.messages)
            assert (received.msg_hash, received.content.payload) == (msg_hash, b"hello")
        assert [message.msg_hash async for message in ada.messages] == [msg_hash]
        async with SwarmClient(node.address) as cid:
            await cid.synced(10)
            assert [message.msg_hash for message in cid.flow()] == [msg_hash]
            large = await cid.post(b"x" * 5_000, ttl_epochs=5)
            assert node.session.swarms["tea"].flow.knows(large, 0)
            brief = await cid.post(b"brief", ttl_epochs=0)
        await until(lambda: node.session.swarms["tea"].flow.knows(brief, 0))

    with_node(tmp_path, test)


def test_nobody_at_the_address(tmp_path: Path) -> None:
    async def work() -> None:
        with pytest.raises(UnreachableError, match=r"no peer of a swarm answers at 127\.0\.0\.1:9"):
            await SwarmClient("127.0.0.1:9", tuning=QUICK).open()
        with pytest.raises(UnreachableError, match="is no host and port"):
            await SwarmClient("nowhere", tuning=QUICK).open()

    run(work())


def test_what_cannot_be_posted_and_what_does_not_come(tmp_path: Path) -> None:
    async def test(node: Node) -> None:
        client = SwarmClient(node.address, max_ttl=70, tuning=QUICK)
        with pytest.raises(ClosedError):
            await client.post(b"early", seconds=9)
        async with client:
            with pytest.raises(UnsendableError, match="the swarm allows 0 to 70 epochs"):
                await client.post(b"x", ttl_epochs=71)
            with pytest.raises(AnswerTimeoutError, match="no peer has shown"):
                await client.post(b"x", seconds=0.01)
            await node.stop()
            with pytest.raises(AnswerTimeoutError, match="no peer has shown"):
                await client.post(b"nobody is there", seconds=2)
            waiting = asyncio.ensure_future(client.post(b"x"))
            await asyncio.sleep(1)
        with pytest.raises(ClosedError):
            await waiting

    with_node(tmp_path, test)
