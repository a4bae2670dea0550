"""The scenarios of the sessions' transcripts on real sockets.

A `Wire` is a driver with its store on disk and its WebSocket link, in a thread of its own, and
clients of the `websockets` package. `WiredTranscript` and `WiredStage` are the transcripts of the
hub and of the broker over such a wire: what their clients say and hear goes through sockets, and
what the sessions want is done by the driver. Only the clock is the transcript's, so that an hour
passes at once: the session hears of its timers from the test.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import Any, Protocol

import pytest
import uvloop
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State
from websockets.sync.client import ClientConnection, connect

from live.parts import listening, port_of
from protocols.cthun.transcript import Line as BrokerLine
from protocols.cthun.transcript import Stage
from protocols.signalhub.transcript import PEER, Client, Transcript
from support.commands import commands_after, commands_at_start, singly
from wireloom.live.driver import Driver
from wireloom.live.links.connection import LinkLimits
from wireloom.live.links.handshake import Gatekeeper
from wireloom.live.links.websocket import WebSocketLink
from wireloom.live.store import RecordStore
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.codec import decode
from wireloom.protocols.signalhub.hub.session import HubSession
from wireloom.wire.ids import Ids
from wireloom.wire.session import (
    Alive,
    Close,
    Closed,
    Command,
    Conclude,
    Congested,
    Event,
    FrameReceived,
    FrameRefused,
    Opened,
    Send,
    Session,
    Turn,
    WakeAt,
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


class Observer(Protocol):
    """A transcript that watches a session while a driver runs it."""

    now_ms: int
    wire: "Wire"

    def observes(self, event: Event | None, commands: Sequence[Command]) -> None:
        """Writes down what was wanted after an event, or at the beginning."""


class Watched:
    """A session with the transcript's clock, whose timers the transcript keeps.

    What a driver finds out by itself about time and traffic, and the transcript does not tell,
    the session does not hear.
    """

    def __init__(self, session: Session, observer: Observer) -> None:
        self._session = session
        self.ids, self.slow = session.ids, session.slow
        self._observer = observer
        self._faults = observer.wire.faults
        self.told: Event | None = None
        self.identity: str | None = None
        self.peer = ""
        self.is_dead = False
        self.reached: set[int] = set()
        """Lines on which something left, or that were cut."""

    def gauges(self) -> Mapping[str, float]:
        return self._session.gauges()

    def restore(self, records: Any, turn: Turn) -> None:
        commands = singly(commands_at_start(self._session, list(records), self._observer.now_ms))
        self._observer.observes(None, commands)
        turn.commands += self._passed_on(commands)

    def handle(self, event: Event, turn: Turn) -> None:
        untold = isinstance(event, Alive | Congested) and event is not self.told
        if self.is_dead or untold:
            return
        if isinstance(event, Opened):
            event = Opened(event.line, self.peer, self.identity, event.token)
        try:
            commands = commands_after(self._session, event, self._observer.now_ms)
            single = singly(commands)
            self.reached.update(one.line for one in single if isinstance(one, Send | Close))
            self._observer.observes(event, single)
        except BaseException as fault:
            self._faults.append(fault)
            raise
        turn.commands += self._passed_on(commands)

    def _passed_on(self, commands: Sequence[Command]) -> Sequence[Command]:
        return [command for command in commands if not isinstance(command, WakeAt)]


class Wire:
    """Real sockets between a session and its clients.

    Args:
        folder: Where records are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._opened = ExitStack()
        self.sockets: dict[int, ClientConnection] = {}
        self.cuts: dict[int, tuple[int, str]] = {}
        """Connections that the session wants closed, with code and reason."""
        self.faults: list[BaseException] = []
        """What went wrong in the server's thread."""
        self._session: Watched | None = None

    def begins(self, session: Watched) -> None:
        """A server begins, with what the last one stored."""
        self._run(self._begin(session))

    async def _begin(self, session: Watched) -> None:
        self._session = session
        self._store = RecordStore(self._folder / "store.db")
        self._driver = Driver("scenario", session, store=self._store)
        self._driver.start()
        self._store.start(
            synced=self._driver.synced, failed=print, call=self._loop.call_soon_threadsafe
        )
        self._link = WebSocketLink(self._driver, Gatekeeper("/ws"), limits=LIMITS)
        bound = listening()
        self._url = f"ws://127.0.0.1:{port_of(bound)}/ws"
        await self._link.listen(bound)

    def ends(self) -> None:
        """The server ends without a word, if there is one."""
        if self._session is not None:
            self._session.is_dead = True
            self._session = None
            self._run(self._end())
            for one in self.sockets.values():
                one.close_socket()
            self.sockets.clear()

    async def _end(self) -> None:
        self._link.stop()
        await self._driver.stop(0)
        self._store.close()

    def close(self) -> None:
        """Ends all."""
        self.ends()
        self._opened.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    def carries(self, event: Event) -> None:
        """Lets an event happen: on a socket, if it is one of those."""
        match event:
            case Opened():
                self.opens(event)
            case FrameReceived():
                self.sends(event)
            case Closed():
                self.leaves(event.line)
            case _:
                self.tells(event)

    def opens(self, event: Opened) -> None:
        """A client connects."""
        assert self._session is not None
        self._session.identity, self._session.peer = event.identity, event.peer
        self._driver._runner._lines = count(event.line)
        headers = {} if event.token is None else {"Authorization": f"Bearer {event.token}"}
        client = connect(
            self._url,
            additional_headers=headers,
            compression=None,
            ping_interval=None,
            max_size=None,
            max_queue=None,
            source_address=(_own_address(event.peer), 0),
            open_timeout=PATIENCE,
            close_timeout=PATIENCE,
        )
        self.sockets[event.line] = self._opened.enter_context(client)

    def sends(self, event: FrameReceived) -> None:
        """A client sends, and the server has taken it when this is done."""
        one = self.sockets.get(event.line)
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

    def leaves(self, line: int) -> None:
        """A client is gone at once."""
        one = self.sockets.pop(line, None)
        if one is not None:
            one.close_socket()
            self._await(lambda: self._driver._performer.find(line) is None)

    def tells(self, event: Event) -> None:
        """The session hears of something that did not come from a socket."""
        assert self._session is not None
        self._session.told = event
        self._call(lambda: self._driver._handle(event))

    def settled(self) -> Iterator[tuple[int, bytes, bool]]:
        """Waits until all has left the server; gives what arrived, in its order on each line."""
        self._await(self._is_idle)
        while self._session is not None and self._session.reached:
            line = self._session.reached.pop()
            if line in self.sockets:
                self._reach(self.sockets[line])
                yield from self._arrived(line, self.sockets[line])
        if self.faults:
            raise self.faults.pop()

    def _arrived(self, line: int, one: ClientConnection) -> Iterator[tuple[int, bytes, bool]]:
        if line in self.cuts:
            _until(lambda: one.protocol.state is State.CLOSED)
        while True:
            try:
                said = one.recv(timeout=0)
            except TimeoutError:
                return
            except ConnectionClosed as end:
                assert end.rcvd is not None, f"line {line} ended without a close frame"
                assert (end.rcvd.code, end.rcvd.reason) == self.cuts.pop(line, None)
                del self.sockets[line]
                return
            is_text = isinstance(said, str)
            yield line, said.encode() if isinstance(said, str) else said, is_text

    def _is_idle(self) -> bool:
        return self._driver.is_idle

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


class WiredTranscript(Transcript):
    """A hub on real sockets.

    Args:
        folder: Where its records are kept.
        packed: Whether clients speak MessagePack if nothing else is said.
        settings: What differs from a hub without rates.
    """

    def __init__(self, folder: Path, *, packed: bool, **settings: Any) -> None:
        self.wire = Wire(folder)
        self.packed = packed
        self.everyone: dict[int, Client] = {}
        super().__init__(**settings)

    def begins(self) -> None:
        self.wire.ends()
        self.lives += 1
        self.session = HubSession(self.settings, Ids(f"life-{self.lives}"))
        self.wire.begins(Watched(self.session, self))

    def client(self, address: str, **more: Any) -> Client:
        return super().client(address, **{"packed": self.packed, **more})

    def stranger(
        self,
        address: str,
        *,
        packed: bool | None = None,
        token: str | None = None,
        peer: str = PEER,
    ) -> Client:
        spoken = self.packed if packed is None else packed
        client = super().stranger(address, packed=spoken, token=token, peer=peer)
        self.everyone[client.line] = client
        return client

    def happens(self, event: Event) -> None:
        self.wire.carries(event)
        for line, raw, is_text in self.wire.settled():
            self.everyone[line].takes(Send(line, raw, is_text))

    def observes(self, event: Event | None, commands: Sequence[Command]) -> None:
        outcomes = [one for one in commands if isinstance(one, Conclude)]
        assert len(outcomes) == isinstance(event, FrameReceived | FrameRefused)
        self.commands = list(commands)
        if isinstance(event, Closed):
            self.clients.pop(event.line, None)
        for command in commands:
            if isinstance(command, Close) and command.line in self.clients:
                self.wire.cuts[command.line] = (command.code, command.reason)
            if not isinstance(command, Send):
                self._perform(command)


class WiredStage(Stage):
    """A broker on real sockets.

    Args:
        folder: Where its records are kept.
        settings: The broker's.
    """

    def __init__(self, folder: Path, *settings: BrokerSettings) -> None:
        self.wire = Wire(folder)
        self.everyone: dict[int, BrokerLine] = {}
        super().__init__(*settings)

    def boots(self) -> None:
        self.wire.ends()
        super().boots()

    def restores(self) -> None:
        self.wire.begins(Watched(self.session, self))

    def handle(self, event: Event) -> None:
        self.everyone |= self.lines
        self.wire.carries(event)
        for line, raw, is_text in self.wire.settled():
            assert not is_text
            self.everyone[line].inbox.append((decode(raw), raw))

    def observes(self, event: Event | None, commands: Sequence[Command]) -> None:
        for command in commands:
            if isinstance(command, Close):
                self.wire.cuts[command.line] = (command.code, command.reason)
        self.checks(event, commands)
        self._perform([one for one in commands if not isinstance(one, Send)])
        self.commands = commands
