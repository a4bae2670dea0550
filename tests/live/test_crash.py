"""A hub and a broker that are killed under load keep every word that they gave.

What was acknowledged as queued or delivered arrives once its receiver is back; durable
subscriptions and registrations are as acknowledged; and the books of the pipeline balance on the
capture.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from itertools import count
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from live.clients.processes import Process, free_port, run, serving
from live.clients.test_hub import QUICK
from wireloom.lake import Lake
from wireloom.live.clients import errors
from wireloom.live.clients.cthun import CthunClient
from wireloom.live.clients.hub import HubClient
from wireloom.pipeline.run import run as run_pipeline
from wireloom.pipeline.spark import Started
from wireloom.pipeline.store import TableStore

KILLS = int(os.environ.get("TEST_SERVER_KILLS", "4"))
TTL_SECONDS = 120
ADA, BOB = "@(a/ada)", "@(b/bob)"
ANN, BEN = "cth://ann/controller", "cth://ben/agent"
TYPE = "http://example.com/line"


class Load:
    """Messages on their way, each with a number or an id of its own."""

    def __init__(self) -> None:
        self.stopping = False
        self.hub_turn, self.broker_turn = asyncio.Lock(), asyncio.Lock()
        self.acknowledged: set[int] = set()
        self.reported: set[str] = set()
        self.received: set[int] = set()
        self.heard: set[str] = set()

    async def send(self, ada: HubClient) -> None:
        """One message after the other through the hub."""
        for number in count():
            async with self.hub_turn:
                if self.stopping:
                    return
                with suppress(errors.ClientError):
                    if number % 4:
                        await ada.send(BOB, "line", number, ttl_ms=TTL_SECONDS * 1000, seconds=2)
                        self.acknowledged.add(number)
                    else:
                        await ada.publish("news", "line", number)
            await asyncio.sleep(0.005)

    async def report(self, ann: CthunClient) -> None:
        """The same at the broker, which reports whom a message is for once it has it."""
        while True:
            async with self.broker_turn:
                if self.stopping:
                    return
                with suppress(errors.ClientError):
                    report = await ann.send_reported([BEN], TYPE, ttl_seconds=TTL_SECONDS)
                    self.reported.add(report.id)
            await asyncio.sleep(0.01)

    async def receive(self, bob: HubClient) -> None:
        async for message in bob.messages:
            self.received.add(int(message.payload))

    async def hear(self, ben: CthunClient) -> None:
        async for message in ben.messages:
            self.heard.add(message.envelope.id)

    async def arrived(self) -> None:
        """Waits, but not forever, until all that was acknowledged is there."""
        for _ in range(300):
            if self.missing == (set(), set()):
                break
            await asyncio.sleep(0.1)

    @property
    def missing(self) -> tuple[set[int], set[str]]:
        """What was acknowledged and has not arrived."""
        return self.acknowledged - self.received, self.reported - self.heard


class Receivers:
    """Bob and Ben, who come and go; nothing is on its way to them at the moment when they go."""

    def __init__(self, load: Load, process: Process) -> None:
        self._load = load
        self._process = process
        self._bob: HubClient | None = None
        self._ben: CthunClient | None = None
        self._tasks: list[asyncio.Future[None]] = []

    async def come(self) -> None:
        self._bob = HubClient(self._process.hub, BOB, tuning=QUICK)
        self._ben = CthunClient(self._process.broker, BEN, tuning=QUICK)
        await self._bob.open()
        await self._ben.open()
        works = self._load.receive(self._bob), self._load.hear(self._ben)
        self._tasks = [asyncio.ensure_future(work) for work in works]

    async def go(self) -> None:
        assert self._bob is not None
        assert self._ben is not None
        async with self._load.hub_turn, self._load.broker_turn:
            await self._load.arrived()
            await self._bob.close()
            await self._ben.close()
            await asyncio.gather(*self._tasks)


@pytest.mark.parametrize("seed", [5])
def test_killed_servers_keep_their_word(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    hub_port, broker_port = free_port(), free_port()

    def started() -> tuple[Process, Callable[[], object]]:
        context = serving(tmp_path, hub_port, broker_port)
        return context.__enter__(), lambda: context.__exit__(None, None, None)

    async def main() -> None:
        load = Load()
        process, end = await asyncio.to_thread(started)
        async with AsyncExitStack() as stack:
            ada = await stack.enter_async_context(HubClient(process.hub, ADA, tuning=QUICK))
            ann = await stack.enter_async_context(CthunClient(process.broker, ANN, tuning=QUICK))
            async with HubClient(process.hub, BOB, tuning=QUICK) as bob:
                await bob.register(["x"])
                await bob.subscribe("news", durable=True)
            receivers = Receivers(load, process)
            await receivers.come()
            tasks = [asyncio.ensure_future(work) for work in (load.send(ada), load.report(ann))]
            for number in range(KILLS):
                if number % 2:
                    await receivers.go()
                await asyncio.sleep(random.uniform(0.3, 1.5))
                end()
                process, end = await asyncio.to_thread(started)
                if number % 2:
                    await receivers.come()
            await asyncio.sleep(1)
            load.stopping = True
            await asyncio.gather(*tasks)
            await load.arrived()
            found = await ada.discover("*")
            assert BOB in {actor.actor_address for actor in found.actors}
            assert (await ada.publish("news", "line", -1)).subscriber_count == 1
            await receivers.go()
        process.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.process.wait, 30)
        end()
        assert load.missing == (set(), set())
        assert len(load.acknowledged) > 10 * KILLS
        assert len(load.reported) > 10 * KILLS

    run(main(), 60 + 30 * KILLS)
    run_pipeline(Started(spark), tmp_path / "data" / "captures", TableStore(tmp_path / "tables"))
    lake = Lake(tmp_path / "tables")
    (counts,) = lake.rows(
        """SELECT (SELECT count(*) FROM frames) AS frames, (SELECT count(*) FROM fates) AS fates,
                  (SELECT count(*) FROM quarantine) AS quarantine"""
    )
    assert int(str(counts["frames"])) > int(str(counts["fates"])) > 0
    assert counts["quarantine"] == 0
    states = lake.rows("SELECT protocol, state, count(*) AS n FROM fates GROUP BY ALL")
    assert {row["protocol"] for row in states} == {"signalhub", "cthun"}
    assert {str(row["state"]) for row in states} <= {"delivered", "in_flight", "rejected"}
