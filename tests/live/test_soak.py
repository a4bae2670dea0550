"""Mixed load for a while: memory stays flat, no task is left over, every outcome is explained."""

import asyncio
import os
import statistics
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from random import Random
from typing import NamedTuple
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from live.clients.processes import Process, run, serving
from live.clients.test_hub import QUICK
from wireloom.live.clients import errors
from wireloom.live.clients.cthun import CthunClient
from wireloom.live.clients.hub import HubClient
from wireloom.protocols.signalhub.constants import ContentType

SECONDS = int(os.environ.get("TEST_SOAK_SECONDS", "120"))
SAMPLES = 24
GROWTH = 1.1
"""What the last third of the time may hold, beside the middle third."""

TYPE = "http://example.com/line"
NONSENSE = ("malformed", "unsupported_version", "unknown_type", "too_large", "unauthenticated")
EXPLAINED = {
    ("signalhub", "rate_limited"),  # who registers too often
    ("signalhub", "unknown_destination"),  # those who went without a word
    *((name, reason) for name in ("signalhub", "cthun") for reason in NONSENSE),
}
"""Reasons that the load gives cause for."""


class Sample(NamedTuple):
    """What the server holds."""

    resident: int
    tasks: float
    threads: int
    files: int


class Load:
    """What clients do, again and again, until it is enough."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.enough = asyncio.Event()
        self.done: Counter[str] = Counter()
        self.random = Random(11)

    @property
    def works(self) -> list[Callable[[int], Awaitable[None]]]:
        return [self.talk, self.come_and_go, self.be_away, self.ask_agents, self.talk_nonsense]

    async def once(self) -> None:
        """Does everything once: what is made at the first need is there then."""
        await asyncio.gather(*(work(0) for work in self.works))

    async def run(self) -> None:
        await asyncio.gather(*(self._repeat(work) for work in self.works))

    async def _repeat(self, work: Callable[[int], Awaitable[None]]) -> None:
        for number in count():
            if self.enough.is_set():
                return
            await work(number)
            self.done[work.__name__] += 1

    @asynccontextmanager
    async def _hub(self, name: str, *, packed: bool = False) -> AsyncIterator[HubClient]:
        kind = ContentType.MSGPACK if packed else ContentType.JSON
        client = HubClient(self.process.hub, f"@(soak/{name})", content_type=kind, tuning=QUICK)
        async with client, _read(client):
            yield client

    @asynccontextmanager
    async def _broker(self, uri: str) -> AsyncIterator[CthunClient]:
        client = CthunClient(self.process.broker, uri, tuning=QUICK)
        async with client, _read(client):
            yield client

    async def talk(self, number: int) -> None:
        """Two who stay for a minute or so."""
        name = f"bob{number}"
        async with self._hub("ada") as ada, self._hub(name, packed=True) as bob:
            await bob.register(["listen"])
            await bob.subscribe("news", durable=bool(number % 2))
            for line in range(300):
                ack = await ada.send(bob.address, "line", line)
                assert ack.status == "delivered"
                await ada.publish("news", "line", "x" * self.random.randrange(2_000))
                if line % 100 == 0:
                    with suppress(errors.RateLimitedError):
                        await ada.broadcast("line", line)
                    await ada.discover("@(soak/*)")
                    await ada.list()
                    await ada.queue_stats()
                await self._rest(0.02)
            await bob.unregister()

    async def come_and_go(self, number: int) -> None:
        """Someone new each time, who leaves with or without a word."""
        async with self._hub(f"guest{number % 50}") as guest:
            with suppress(errors.RateLimitedError):
                await guest.register(["visit"])
            made = await guest.subscribe("news")
            if number % 3:
                await guest.unsubscribe(made.subscription_id)
                await guest.unregister()
            await self._rest(0.1)

    async def be_away(self, number: int) -> None:
        """Messages for someone who is away: he comes back for half of them."""
        async with self._hub("cleo") as cleo:
            name = f"away{number % 20}"
            async with self._hub(name) as dan:
                with suppress(errors.RateLimitedError):
                    await dan.register(["rest"])
            for line in range(20):
                ack = await cleo.send(f"@(soak/{name})", "line", line, ttl_ms=2_000)
                assert ack.status == "queued"
            if number % 2:
                async with self._hub(name):
                    await self._rest(0.2)
            await self._rest(0.5)

    async def ask_agents(self, number: int) -> None:
        """A controller and agents; some of what it sends is for one who never comes."""
        async with (
            self._broker("cth://ann/controller") as ann,
            self._broker("cth://ben/agent"),
            self._broker(f"cth://ben{number}/agent"),
        ):
            for _ in range(100):
                report = await ann.send_reported(["cth://*/agent"], TYPE, b"x" * 200)
                assert len(report.targets) >= 2
                await ann.send(["cth://ben/agent", "cth://nobody/agent"], TYPE, ttl_seconds=2)
                await self._rest(0.02)
            await ann.inventory()

    async def talk_nonsense(self, number: int) -> None:
        """What is no message at all."""
        url = (self.process.hub, self.process.broker)[number % 2]
        raw = self.random.randbytes(self.random.randrange(1, 3_000))
        with suppress(WebSocketException, OSError):
            async with connect(url, open_timeout=5, close_timeout=1) as line:
                await line.send(raw)
                await line.send('{"type":"hub:send"}' if number % 4 < 2 else raw.hex())
                async with asyncio.timeout(0.2):
                    await line.recv()
        await self._rest(0.2)

    async def _rest(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self.random.uniform(0.5, 1.5))


@asynccontextmanager
async def _read(client: HubClient | CthunClient) -> AsyncIterator[None]:
    """Reads all that comes, while it lasts."""

    async def read() -> None:
        async for _ in client.messages:
            pass

    task = asyncio.ensure_future(read())
    try:
        yield
    finally:
        task.cancel()


class Watcher:
    """Looks at the server from outside."""

    def __init__(self, process: Process) -> None:
        self._url = process.metrics
        self._folder = Path(f"/proc/{process.process.pid}")

    async def metrics(self) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        def read() -> str:
            with urlopen(self._url, timeout=10) as page:
                return str(page.read().decode())

        text = await asyncio.to_thread(read)
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    async def sample(self) -> Sample:
        tasks = (await self.metrics())["wireloom_tasks", frozenset()]
        pages = int((self._folder / "statm").read_text().split()[1])
        return Sample(
            pages * os.sysconf("SC_PAGE_SIZE"),
            tasks,
            len(list((self._folder / "task").iterdir())),
            len(list((self._folder / "fd").iterdir())),
        )

    async def total(self, name: str) -> float:
        return sum(value for (one, _), value in (await self.metrics()).items() if one == name)

    async def quiet(self) -> None:
        """Waits until all connections have ended."""
        for _ in range(100):
            if not await self.total("wireloom_connections"):
                return
            await asyncio.sleep(0.1)

    async def is_back_at(self, first: Sample) -> bool:
        """Whether tasks, threads and files are as they were; a socket takes a while to go."""
        for _ in range(100):
            if (await self.sample())[1:] == first[1:]:
                return True
            await asyncio.sleep(0.1)
        return False

    async def rejections(self) -> set[tuple[str, str]]:
        found = set()
        for (name, labels), value in (await self.metrics()).items():
            label = dict(labels)
            if (
                name == "wireloom_frames_received_total"
                and label["outcome"] == "rejected"
                and value
            ):
                found.add((label["protocol"], label["reason"]))
        return found


def test_mixed_load_leaves_nothing_behind(tmp_path: Path) -> None:
    async def main() -> None:
        with serving(tmp_path, metrics=True) as process:
            load, watcher = Load(process), Watcher(process)
            await load.once()
            await watcher.quiet()
            first = await watcher.sample()
            work = asyncio.ensure_future(load.run())
            samples = []
            for _ in range(SAMPLES):
                await asyncio.wait([work], timeout=SECONDS / SAMPLES)
                assert not work.done()
                samples.append(await watcher.sample())
            load.enough.set()
            await work
            await watcher.quiet()
            assert await watcher.is_back_at(first)
            assert is_flat([sample.resident for sample in samples])
            assert await watcher.total("wireloom_faults_total") == 0
            assert await watcher.rejections() <= EXPLAINED
            assert len(load.done) == len(load.works)

    run(main(), SECONDS + 120)


def is_flat(sizes: list[int]) -> bool:
    third = len(sizes) // 3
    return statistics.median(sizes[-third:]) <= GROWTH * statistics.median(sizes[third:-third])


def test_growth_is_seen() -> None:
    assert is_flat([50, 90, 100, 100, 100, 101, 102, 99, 104])
    assert not is_flat([50, 60, 70, 80, 90, 100, 110, 120, 130])
