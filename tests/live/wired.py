"""A session on a real driver with real sockets, as a place for transcripts.

A `Wired` place has a driver with its store on disk and its WebSocket link, in a thread of its own,
and clients of the `websockets` package. What clients of a transcript send and hear goes through
sockets. Only the clock is the transcript's, so that an hour passes at once.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import Any

import pytest
import uvloop
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State
from websockets.sync.client import ClientConnection, connect

from live.parts import listening, port_of
from support.commands import singly
from wireloom.live.alarm import Alarm
from wireloom.live.driver import Driver
from wireloom.live.links.connection import LinkLimits
from wireloom.live.links.handshake import Gatekeeper
from wireloom.live.links.websocket import WebSocketLink
from wireloom.live.store import RecordStore
from wireloom.sim.clocks import VirtualClock
from wireloom.wire.session import (
    Alive,
    Close,
    Closed,
    Congested,
    Event,
    Forget,
    FrameReceived,
    Line,
    Opened,
    Send,
    Session,
    Store,
    Turn,
)
from wireloom.wire.shares import network

PATIENCE = 10.0
"""Seconds to wait for what has to happen."""

LIMITS = LinkLimits(
    ping_seconds=3_600,
    close_seconds=2,
    max_frame_size=80 << 20,
    max_backlog_bytes=1 << 30,
    control_burst=1 << 30,
    stranger_frames=1 << 30,
)
"""Pings tell when all has been heard; what strangers may do is no matter of sessions."""


def scenarios(modules: Iterable[ModuleType]) -> dict[str, Any]:
    """The tests of some modules, by names that tell the modules too."""
    return {
        f"{module.__name__.rpartition('.')[2]}__{name.removeprefix('test_')}": test
        for module in modules
        for name, test in vars(module).items()
        if name.startswith("test_")
    }


class Watched:
    """A session of which the place knows where frames are under way.

    What a driver finds out by itself about traffic, and the transcript does not tell, the session
    does not hear.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.ids, self.slow = session.ids, session.slow
        self.told: Event | None = None
        """What the transcript tells."""

        self.visit = Opened(0, "")
        """What the session hears of whoever connects next."""

        self.newest: Line = 0
        """The line of whoever connected last."""

        self.is_dead = False
        self.stored: dict[tuple[str, str], bytes] = {}
        self.reached: set[Line] = set()
        """Lines on which something left, or that were closed."""

        self.closes: dict[Line, tuple[int, str]] = {}
        """Code and reason with which the session closes lines."""

        self.faults: list[Exception] = []
        """What went wrong in the server's thread."""

    def gauges(self) -> Mapping[str, float]:
        return self._session.gauges()

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        kept = list(records)
        self.stored = {(one.kind, one.key): one.value for one in kept}
        self._session.restore(kept, turn)
        self._note(turn)

    def handle(self, event: Event, turn: Turn) -> None:
        untold = isinstance(event, Alive | Congested) and event is not self.told
        if self.is_dead or untold:
            return
        if isinstance(event, Opened):
            event = Opened(event.line, self.visit.peer, self.visit.identity, event.token)
            self.newest = event.line
        try:
            self._session.handle(event, turn)
        except Exception as fault:
            self.faults.append(fault)
            raise
        self._note(turn)

    def _note(self, turn: Turn) -> None:
        for command in singly(turn.commands):
            match command:
                case Send(line):
                    self.reached.add(line)
                case Close(line, code, reason):
                    self.reached.add(line)
                    self.closes[line] = (code, reason)
                case Store(kind, key, value):
                    self.stored[kind, key] = value
                case Forget(kind, key):
                    del self.stored[kind, key]


class SilentAlarm(Alarm):
    """Does not ring: the transcript fires timers."""

    def set(self, at_ms: int | None, now_ms: int) -> None:
        pass


class Wired:
    """A place with real sockets between a session and its clients.

    Args:
        folder: Where records are kept.
        now_ms: The time at the beginning.
    """

    def __init__(self, folder: Path, now_ms: int) -> None:
        self._folder = folder
        self._clock = VirtualClock(now_ms)
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._opened = ExitStack()
        self._lines = count(1)
        self._sockets: dict[Line, ClientConnection] = {}
        self._arrived: deque[Send] = deque()
        self._session: Watched | None = None

    @property
    def now_ms(self) -> int:
        return self._clock.now_ns() // 1_000_000

    @now_ms.setter
    def now_ms(self, at_ms: int) -> None:
        self._clock.set(at_ms)

    @property
    def stored(self) -> dict[tuple[str, str], bytes]:
        """A copy: a server reads its own store."""
        return dict(self._running.stored)

    @property
    def _running(self) -> Watched:
        assert self._session is not None
        return self._session

    # Lives.

    def begins(self, session: Session) -> None:
        self._session = Watched(session)
        self._run(self._begin(self._session))

    async def _begin(self, session: Watched) -> None:
        self._store = RecordStore(self._folder / "store.db")
        self._driver = Driver("scenario", session, store=self._store, clock=self._clock)
        self._driver._alarm = SilentAlarm(lambda: None)
        self._driver._runner._lines = self._lines
        self._driver.start()
        self._store.start(
            synced=self._driver.synced, failed=print, call=self._loop.call_soon_threadsafe
        )
        self._link = WebSocketLink(self._driver, Gatekeeper("/ws"), limits=LIMITS)
        bound = listening()
        self._url = f"ws://127.0.0.1:{port_of(bound)}/ws"
        await self._link.listen(bound)

    def crashes(self) -> None:
        self._running.is_dead = True
        self._run(self._end())
        for one in self._sockets.values():
            one.close_socket()
        self._sockets.clear()

    async def _end(self) -> None:
        self._link.stop()
        await self._driver.stop(0)
        self._store.close()

    def close(self) -> None:
        """Ends all."""
        self.crashes()
        self._opened.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    # What happens.

    def opens(self, peer: str, identity: str | None, token: str | None) -> None:
        session, before = self._running, self._running.newest
        session.visit = Opened(0, peer, identity)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        client = connect(
            self._url,
            additional_headers=headers,
            compression=None,
            ping_interval=None,
            max_size=None,
            max_queue=None,
            source_address=(_own_address(peer), 0),
            open_timeout=PATIENCE,
            close_timeout=PATIENCE,
        )
        _until(lambda: session.newest != before)
        self._sockets[session.newest] = self._opened.enter_context(client)

    def carries(self, event: Event) -> None:
        match event:
            case FrameReceived():
                self._sends(event)
            case Closed(line):
                self._leaves(line)
            case _:
                self._running.told = event
                self._call(lambda: self._driver._handle(event))

    def _sends(self, event: FrameReceived) -> None:
        """A client sends, and the server has taken it when this is done."""
        one = self._sockets.get(event.line)
        if one is None:
            pytest.skip("on a socket, nobody speaks after the end")
        try:
            said: str | bytes = event.raw.decode() if event.text else event.raw
        except UnicodeDecodeError:
            pytest.skip("text that is not UTF-8 ends the connection before the session sees it")
        try:
            one.send(said)
        except ConnectionClosed:
            return
        self._reach(one)

    def _leaves(self, line: Line) -> None:
        """A client is gone at once."""
        one = self._sockets.pop(line, None)
        if one is not None:
            one.close_socket()
            self._await(lambda: self._driver._performer.find(line) is None)

    def passes(self, ms: int) -> None:
        end_ms = self.now_ms + ms
        while (due_ms := self._call(self._driver._runner.next_timer_ms)) is not None:
            if due_ms > end_ms:
                break
            self.now_ms = max(self.now_ms, due_ms)
            self._call(self._fire)
            self._gather()
        self.now_ms = end_ms

    def _fire(self) -> None:
        self._driver._runner.fire(1)
        self._driver._begin_turn()

    # What arrives.

    def settled(self) -> Iterator[Send]:
        self._gather()
        while self._arrived:
            yield self._arrived.popleft()

    def _gather(self) -> None:
        """Waits until all has left the server, and takes what arrived."""
        session = self._running
        if session.faults:
            raise session.faults.pop(0)
        self._await(lambda: session.is_dead or self._driver.is_idle)
        while session.reached:
            line = session.reached.pop()
            if line in self._sockets:
                self._reach(self._sockets[line])
                self._arrived.extend(self._received(line, self._sockets[line]))
        if session.faults:
            raise session.faults.pop(0)

    def _received(self, line: Line, one: ClientConnection) -> Iterator[Send]:
        closes = self._running.closes
        if line in closes:
            _until(lambda: one.protocol.state is State.CLOSED)
        while True:
            try:
                said = one.recv(timeout=0)
            except TimeoutError:
                return
            except ConnectionClosed as end:
                assert end.rcvd is not None, f"line {line} ended without a close frame"
                assert (end.rcvd.code, end.rcvd.reason) == closes.pop(line, None)
                del self._sockets[line]
                return
            is_text = isinstance(said, str)
            yield Send(line, said.encode() if isinstance(said, str) else said, is_text)

    def _reach(self, one: ClientConnection) -> None:
        """Waits until the server has read all that was sent, and all it wrote has been read."""
        try:
            ponged = one.ping()
        except ConnectionClosed:
            return
        _until(lambda: ponged.is_set() or one.protocol.state is State.CLOSED)

    def _await(self, condition: Callable[[], bool]) -> None:
        _until(lambda: self._call(condition))

    def _call(self, function: Callable[[], Any]) -> Any:
        async def called() -> Any:
            return function()

        return self._run(called())

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)


def _own_address(peer: str) -> str:
    """An address of this machine for one of the addresses in examples: 127.0.0.2 for 192.0.2.2."""
    return (
        f"127.0.0.{network(peer).removeprefix('192.0.2.')}" if "192.0.2." in peer else "127.0.0.1"
    )


def _until(condition: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE
    while not condition():
        assert monotonic() < end, "it did not happen"
        threading.Event().wait(0.001)
