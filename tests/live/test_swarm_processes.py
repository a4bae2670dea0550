"""Five nodes as processes: one is killed, one joins late, one peer forges; all end the same."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from time import time

from live.clients.processes import run
from protocols.uep12.transcript import proven
from wireloom.live.clients.swarm import SwarmClient
from wireloom.protocols.uep12.codec import decode, encode
from wireloom.protocols.uep12.messages import Content, MessageList, PullByTime, Reference
from wireloom.wire.errors import WireError

POSTS = 4


class Node:
    """One `wireloom serve`, with nothing but its peer."""

    def __init__(self, folder: Path, port: int, known: Sequence[int]) -> None:
        self.folder = folder
        self.port = port
        self.peers = ",".join(f"'127.0.0.1:{one}'" for one in known)
        folder.mkdir()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def starts(self) -> None:
        ready = self.folder / "ready"
        ready.unlink(missing_ok=True)
        command = [sys.executable, "-c", "from wireloom.cli.main import main; main()", "serve"]
        command += ["--signalhub-listen=", "--cthun-listen=", "--metrics-listen="]
        command += [f"--uep12-listen={self.address}", f"--data={self.folder / 'data'}"]
        command += [f"--ready-file={ready}", f"--name=n{self.port}"]
        limits = {"PULL_MS": "500", "REFRESH_MS": "500", "TICKET_MS": "500"}
        env = {f"WIRELOOM_UEP12_LIMITS_{name}": value for name, value in limits.items()}
        env["WIRELOOM_UEP12_PEERS"] = f"[{self.peers}]"
        self.process = subprocess.Popen(
            command,
            env=os.environ | env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not ready.exists():
            assert self.process.poll() is None
            await asyncio.sleep(0.05)

    def is_killed(self) -> None:
        self.process.kill()
        self.process.wait(10)

    async def flow(self) -> set[bytes]:
        async with SwarmClient(self.address) as swarm:
            await swarm.synced(20)
            return {received.msg_hash for received in swarm.flow()}


class Forger:
    """A peer that proves itself, lists what is not there, and refers to it."""

    def __init__(self, address: str, random: Random) -> None:
        host, port = address.split(":")
        self._to = host, int(port)
        self._random = random
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    async def runs(self) -> None:
        with self._socket:
            await self._runs()

    async def _runs(self) -> None:
        loop = asyncio.get_running_loop()
        fakes = [self._random.randbytes(8) for _ in range(4)]
        references = tuple(Reference(msg_hash=one, epoch_diff=0) for one in fakes)
        now_ms = int(time() * 1_000)
        forged = Content(pow_nonce=0, timestamp=now_ms, ttl_epoch=9, references=references)
        self._socket.sendto(await asyncio.to_thread(proven, forged), self._to)
        while True:
            raw = await loop.sock_recv(self._socket, 65_536)
            try:
                message = decode(raw)
            except WireError:
                continue
            if isinstance(message, PullByTime):
                listed = MessageList(
                    ticket=message.ticket,
                    start_time=message.start_time,
                    end_time=message.end_time,
                    msg_hashes=tuple(self._random.randbytes(8) for _ in range(50)),
                )
                self._socket.sendto(encode(listed), self._to)
                self._socket.sendto(self._random.randbytes(40), self._to)


def free_ports(count: int) -> list[int]:
    made = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in made:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in made]
    for one in made:
        one.close()
    return ports


def test_five_processes_end_with_the_same_flow(tmp_path: Path) -> None:
    ports = free_ports(5)
    nodes = [
        Node(tmp_path / f"n{number}", port, ports[max(0, number - 2) : number])
        for number, port in enumerate(ports)
    ]

    async def posts(node: Node, text: str) -> set[bytes]:
        async with SwarmClient(node.address) as swarm:
            numbers = range(POSTS)
            made = [swarm.post(f"{text} {n}".encode(), seconds=40) for n in numbers]
            return set(await asyncio.gather(*made))

    async def work() -> None:
        for node in nodes[:4]:
            await node.starts()
        forger = asyncio.ensure_future(Forger(nodes[1].address, Random(1)).runs())
        posted = await posts(nodes[0], "first")
        victim = nodes[2]
        own = await posts(victim, "before the end")
        victim.is_killed()
        posted |= own | await posts(nodes[3], "while it is away")
        await victim.starts()
        await nodes[4].starts()
        posted |= await posts(nodes[4], "late")
        flows = [set[bytes]()]
        while len(set(map(frozenset, flows))) > 1 or not posted <= flows[0]:
            await asyncio.sleep(0.5)
            flows = [await node.flow() for node in nodes]
        assert len(flows[0]) == 4 * POSTS + 1  # the forger's message is a proper one
        forger.cancel()

    try:
        run(work(), 100)
    finally:
        for node in nodes:
            if hasattr(node, "process"):
                node.is_killed()
