"""Sessions and connections that the tests of `live` share."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from msgspec.structs import replace

from wireloom.capture.frame import CapturedFrame, from_batch
from wireloom.capture.reader import Damage, read
from wireloom.live.driver import Driver
from wireloom.live.links.connection import Connection, LinkLimits
from wireloom.live.metrics import Meters
from wireloom.live.store import RecordStore, StoreError
from wireloom.live.tap import Tap
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Admit,
    Close,
    Command,
    Conclude,
    Event,
    Forget,
    FrameReceived,
    FrameRefused,
    Line,
    Opened,
    Send,
    Stopping,
    Store,
    TimerFired,
    Turn,
    WakeAt,
)

TAKEN = Conclude(Outcome.ACCEPTED, None, None, "said")


class EchoSession:
    """Says back what it hears; some words make it do something else.

    `keep X` stores, then answers; `drop X` forgets, then answers; `wake N` sets a timer for N
    ms from now; `name X` gives the peer a name; `admit` admits it; `bye N` closes; `fail` raises;
    `mute` gives no outcome; `bad` is refused; `all X` goes to everyone.

    Args:
        is_open: Whether everyone is admitted at once.
    """

    def __init__(self, *, is_open: bool = True) -> None:
        self.ids = Ids("echo")
        self.slow: Mapping[str, int] = {}
        self.is_open = is_open
        self.events: list[Event] = []
        self.records: dict[tuple[str, str], bytes] = {}
        self.lines: dict[Line, None] = {}

    def gauges(self) -> Mapping[str, float]:
        return {}

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        for record in records:
            self.records[record.kind, record.key] = record.value
        if self.records:
            turn.commands.append(WakeAt("restored", 0))

    def handle(self, event: Event, turn: Turn) -> None:
        turn.commands += self.wants(event, turn.now_ms)

    def wants(self, event: Event, now_ms: int) -> Sequence[Command]:
        self.events.append(event)
        match event:
            case FrameReceived(line, raw, text):
                return self._on_frame(line, raw, text, now_ms)
            case FrameRefused(line):
                return [Conclude(Outcome.REJECTED, Reason.TOO_LARGE), Send(line, b"too large")]
            case Opened(line):
                self.lines[line] = None
                return [Admit(line)] if self.is_open else []
            case TimerFired((int(line), bytes(raw))):
                return [Send(line, raw)]
            case Stopping():
                return [Send(line, b"goodbye") for line in self.lines]
        return []

    def _on_frame(self, line: Line, raw: bytes, text: bool, now_ms: int) -> Sequence[Command]:
        word, _, rest = raw.partition(b" ")
        echo = Send(line, raw, text, Outcome.DELIVERED)
        match word:
            case b"keep":
                key = rest.decode()
                return [TAKEN, Store("kept", key, rest), echo]
            case b"drop":
                return [Forget("kept", rest.decode()), echo, TAKEN]
            case b"wake":
                return [TAKEN, WakeAt((line, raw), now_ms + int(rest))]
            case b"name":
                return [echo, replace(TAKEN, peer=rest.decode())]
            case b"admit":
                return [TAKEN, Admit(line), echo]
            case b"bye":
                return [TAKEN, echo, Close(line, int(rest), "as you like")]
            case b"fail":
                raise RuntimeError("as you like")
            case b"mute":
                return [echo]
            case b"bad":
                return [Conclude(Outcome.REJECTED, Reason.MALFORMED)]
            case b"all":
                return [TAKEN, *(Send(one, rest, text) for one in self.lines)]
        return [TAKEN, echo]

    def seen(self, kind: type[Any]) -> list[Any]:
        """The events of a kind so far."""
        return [event for event in self.events if type(event) is kind]


class Pipe(Connection):
    """A connection without a socket: what was written can be looked at."""

    __slots__ = ("aborted", "closes", "paused", "stuck", "writes")

    def __init__(self, host: Any, limits: LinkLimits | None = None) -> None:
        super().__init__(host, "pipe", "nowhere:1", limits or LinkLimits())
        self.writes: list[list[bytes]] = []
        self.closes: list[tuple[int, str]] = []
        self.aborted = 0
        self.paused = False
        self.stuck = 0

    def put(self, raw: bytes, text: bool) -> None:
        if not self._out:
            self.turn.append(self)
        self._out.append(raw)

    def flush(self) -> None:
        if self._out:
            self.writes.append(list(self._out))
            if self.stuck:
                self._wrote(sum(map(len, self._out)), len(self._out))
        self._out.clear()

    def close(self, code: int, reason: str) -> None:
        self.flush()
        self.closes.append((code, reason))
        self.host.closed(self, code)

    def abort(self) -> None:
        self.aborted += 1

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def buffered(self) -> int:
        return self.stuck


@asynccontextmanager
async def running(
    session: Any, folder: Path, *, tap: Tap | None = None, meters: Meters | None = None, **more: Any
) -> AsyncIterator[Driver]:
    """A driver with a store in `folder`."""
    store = RecordStore(folder / "store.db")
    driver = Driver("echo", session, store=store, tap=tap, meters=meters, **more)
    driver.start()

    def failed(error: StoreError) -> None:
        raise error

    call = asyncio.get_running_loop().call_soon_threadsafe
    store.start(synced=driver.synced, failed=failed, call=call)
    try:
        yield driver
    finally:
        await driver.stop(1)
        store.close()


def captured(folder: Path) -> list[CapturedFrame]:
    """All frames in a capture log."""
    batches = [item for item in read(folder) if not isinstance(item, Damage)]
    return [frame for batch in batches for frame in from_batch(batch)]


def listening() -> socket.socket:
    """A socket on a free port of this machine."""
    made = socket.create_server(("127.0.0.1", 0))
    made.settimeout(0)
    return made


def port_of(bound: socket.socket) -> int:
    port: int = bound.getsockname()[1]
    return port


async def until(condition: Callable[[], object], seconds: float = 5.0) -> None:
    """Waits for something to become true."""
    end = monotonic() + seconds
    while not condition():
        if monotonic() > end:
            raise AssertionError("it did not happen")
        await asyncio.sleep(0.005)
