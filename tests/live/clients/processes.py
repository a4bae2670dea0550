"""`wireloom serve` as a process, for clients to talk to."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import uvloop


class Process:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str], ready: Path) -> None:
        self.process = process
        where = dict(line.split(" ") for line in ready.read_text().splitlines())
        self.hub, self.broker = where["signalhub"], where["cthun"]
        self.swarm = where["uep12"].removeprefix("udp://")
        self.metrics = where.get("metrics", "")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)


@contextmanager
def serving(
    folder: Path,
    hub_port: int = 0,
    broker_port: int = 0,
    env: dict[str, str] | None = None,
    *,
    metrics: bool = False,
) -> Iterator[Process]:
    ready = folder / "ready"
    ready.unlink(missing_ok=True)
    command = [sys.executable, "-c", "from wireloom.cli.main import main; main()", "serve"]
    command += [
        f"--signalhub-listen=127.0.0.1:{hub_port}",
        f"--cthun-listen=127.0.0.1:{broker_port}",
        "--uep12-listen=127.0.0.1:0",
        f"--metrics-listen={'127.0.0.1:0' if metrics else ''}",
        f"--data={folder / 'data'}",
        f"--ready-file={ready}",
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )
    try:
        end = monotonic() + 30
        while not ready.exists():
            assert process.poll() is None, process.communicate()[1]
            assert monotonic() < end
            sleep(0.02)
        yield Process(process, ready)
    finally:
        process.kill()
        process.communicate()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def run(work: Coroutine[Any, Any, None], seconds: float = 30) -> None:
    async def limited() -> None:
        async with asyncio.timeout(seconds):
            await work

    uvloop.run(limited())
