"""Runs the Autobahn fuzzing client against the WebSocket link.

usage: python tools/autobahn.py FOLDER

FOLDER is where `autobahn.sh` has installed the suite; its report is left there in `report/`. All
cases run but those of compression, which the link does not offer. The link's end says back what
it hears, as the suite wants it.
"""

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import uvloop

from wireloom.live.driver import Driver
from wireloom.live.links.connection import LinkLimits
from wireloom.live.links.handshake import Gatekeeper
from wireloom.live.links.websocket import WebSocketLink
from wireloom.live.listening import bound
from wireloom.live.sections import Address
from wireloom.live.store import RecordStore
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import (
    Admit,
    Conclude,
    Event,
    FrameReceived,
    Opened,
    Send,
    Store,
    Turn,
)

LARGEST: Final = 32 << 20
"""The suite sends messages of 16 MiB."""

PASSED: Final = {"OK", "NON-STRICT", "INFORMATIONAL"}
"""What the suite calls right, allowed, or a matter of taste."""


class EchoSession:
    """Says back what it hears."""

    def __init__(self) -> None:
        self.ids = Ids("echo")
        self.slow: Mapping[str, int] = {}

    def gauges(self) -> Mapping[str, float]:
        """Nothing is kept."""
        return {}

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        """Nothing was kept."""

    def handle(self, event: Event, turn: Turn) -> None:
        """Sends every frame back, and treats nobody as a stranger."""
        if isinstance(event, Opened):
            turn.commands.append(Admit(event.line))
        if isinstance(event, FrameReceived):
            turn.commands.append(Send(event.line, event.raw, event.text, Outcome.DELIVERED))
            turn.commands.append(Conclude(Outcome.ACCEPTED, None, None, "echo"))


async def main(folder: Path) -> int:
    """Runs all cases; gives the number of those that failed."""
    with TemporaryDirectory() as data:
        store = RecordStore(Path(data) / "store.db")
        driver = Driver("echo", EchoSession(), store=store)
        driver.start()
        gatekeeper = Gatekeeper("/", origins=(), is_local=True)
        link = WebSocketLink(driver, gatekeeper, limits=LinkLimits(max_frame_size=LARGEST))
        listening = bound(Address("127.0.0.1", 0), "listen")
        await link.listen(listening)
        await _fuzz(folder, listening.getsockname()[1])
        link.stop()
        await driver.stop(1)
        store.close()
    return _told(json.loads((folder / "report" / "index.json").read_text())["wireloom"])


async def _fuzz(folder: Path, port: int) -> None:
    plan = {
        "outdir": str(folder / "report"),
        "servers": [{"agent": "wireloom", "url": f"ws://127.0.0.1:{port}/"}],
        "cases": ["*"],
        "exclude-cases": ["12.*", "13.*"],
        "exclude-agent-cases": {},
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    script = "import txaio; txaio.use_twisted(); from autobahntestsuite.wstest import run; run()"
    command = ("-W", "ignore", "-c", script, "-m", "fuzzingclient", "-s", str(folder / "plan.json"))
    process = await asyncio.create_subprocess_exec(
        str(folder / "python"), *command, stdout=asyncio.subprocess.PIPE, cwd=folder
    )
    assert process.stdout is not None
    async for line in process.stdout:
        if line.startswith(b"Running test case"):
            print("\r" + line.decode().strip()[:90], end="", flush=True)
    print()
    await process.wait()


def _told(cases: dict[str, dict[str, Any]]) -> int:
    failed = {
        name: case
        for name, case in cases.items()
        if not {case["behavior"], case["behaviorClose"]} <= PASSED
    }
    for name, case in failed.items():
        print(f"case {name}: {case['behavior']}, close: {case['behaviorClose']}")
    print(f"{len(cases) - len(failed)} passed, {len(failed)} failed")
    return len(failed)


if __name__ == "__main__":
    sys.exit(1 if uvloop.run(main(Path(sys.argv[1]).resolve())) else 0)
