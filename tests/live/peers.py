"""Peers of a swarm with real sockets and stores, all in one process."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import uvloop

from wireloom.capture.writer import CaptureWriter
from wireloom.live.driver import Driver
from wireloom.live.links.udp import UdpLink
from wireloom.live.listening import bound_datagrams, shown
from wireloom.live.sections import Address
from wireloom.live.store import RecordStore
from wireloom.live.tap import Tap
from wireloom.protocols.uep12.peer.session import PeerSession
from wireloom.protocols.uep12.peer.settings import Membership, PeerSettings
from wireloom.wire.ids import Ids
from wireloom.wire.session import Swarm

EPOCH_MS = 60_000


class Node:
    """A peer with sockets and a store, in this process."""

    def __init__(self, folder: Path, peers: Sequence[str]) -> None:
        self.folder = folder
        self.bound = bound_datagrams(Address("127.0.0.1", 0), "test")
        self.address = shown(self.bound, Address("127.0.0.1", 0))
        self.items: list[object] = []
        self.is_stopped = False
        membership = Membership(name="tea", epoch_ms=EPOCH_MS, peers=tuple(peers))
        settings = PeerSettings(
            memberships=(membership,), secret=self.address.encode(), refresh_ms=500, pull_ms=300
        )
        self.session = PeerSession(settings, Ids(self.address))
        folder.mkdir()
        self.store = RecordStore(folder / "store.db")
        self.writer = CaptureWriter(folder / "captures", self.address)
        self.tap = Tap(self.writer, self.address, overloaded=lambda _: None)
        self.driver = Driver("uep12", self.session, store=self.store, tap=self.tap)
        self.driver.deliver = self.items.append
        self.link = UdpLink(self.driver, swarm=Swarm("tea", EPOCH_MS))

    async def start(self) -> None:
        self.driver.add_link("udp", self.link)
        self.driver.start()
        call = asyncio.get_running_loop().call_soon_threadsafe
        self.store.start(synced=self.driver.synced, failed=_raise, call=call)
        await self.link.listen(self.bound)

    async def stop(self) -> None:
        if self.is_stopped:
            return
        self.is_stopped = True
        self.link.stop()
        await self.driver.stop(1)
        self.store.close()
        self.tap.close()

    def count(self, what: str) -> float:
        return self.session.gauges()[f"tea.{what}"]


def _raise(error: Exception) -> None:
    raise error


def play(test: Callable[[Callable[..., Awaitable[Node]]], Awaitable[None]], folder: Path) -> None:
    """Runs a test that may add nodes, which know those that they name."""

    async def main() -> None:
        async with asyncio.timeout(50), AsyncExitStack() as stack:

            async def add(*known: Node) -> Node:
                number = len(list(folder.iterdir()))
                node = Node(folder / f"n{number}", [one.address for one in known])
                await node.start()
                stack.push_async_callback(node.stop)
                return node

            await test(add)

    uvloop.run(main())
