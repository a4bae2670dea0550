"""A client's session on sockets: frames in and out, time, and those who wait for answers.

Performing is that of the servers (see `performing`). Here are the parts of it that need sockets,
for one connection at a time, and futures for the application.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Generic, NamedTuple, NoReturn, Protocol, TypeVar

from wireloom.live.alarm import Alarm
from wireloom.live.clients.channel import ClientChannel
from wireloom.live.clients.errors import ClientError, ClosedError, LostError, UnreachableError
from wireloom.live.clients.inbox import Inbox
from wireloom.live.clients.sockets import Dialling, dial
from wireloom.live.clients.tuning import Tuning
from wireloom.performing.counts import FrameCounts
from wireloom.performing.performer import Performer
from wireloom.performing.runner import Runner
from wireloom.performing.world import Channel, now_ms
from wireloom.wire.client.application import (
    Answered,
    Arrived,
    Changed,
    Ended,
    Failed,
    Open,
    Request,
    Unsent,
    Withdraw,
)
from wireloom.wire.session import (
    Dial,
    Event,
    FrameReceived,
    Requested,
    Session,
    Stopping,
)

ABNORMAL = 1006
MAX_TIMERS_A_TURN = 256
M = TypeVar("M")


class Speaking(Session, Protocol):
    """A client's session, as far as its driver looks at it."""

    @property
    def is_connected(self) -> bool:
        """Whether the server has taken the client."""
        ...

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is awaited."""
        ...


class Waiting(NamedTuple):
    """A request, and what the application waits for."""

    request: Request
    answer: asyncio.Future[Any]


class ClientDriver(Generic[M]):
    """Runs one client's session; `M` are the messages that others send to it.

    Args:
        protocol: What it speaks.
        session: The session.
        where: How a connection is opened.
        tuning: Time, chance and patience.
    """

    def __init__(self, protocol: str, session: Speaking, where: Dialling, tuning: Tuning) -> None:
        self.messages: Inbox[M] = Inbox(tuning.inbox_limit)
        self.failures: Inbox[ClientError] = Inbox(tuning.inbox_limit)
        self._session = session
        self._where = where
        self._tuning = tuning
        self._performer = Performer(
            protocol,
            connections=self,
            records=_NoRecords(),
            tap=None,
            counts=FrameCounts(),
            deliver=self._take,
        )
        self._runner = Runner(session, self._performer, clock=tuning.clock, failed=self._break)
        self._alarm: Alarm | None = None
        self._channel: ClientChannel | None = None
        self._opening: asyncio.Future[None] | None = None
        self._unreached: ClientError | None = None
        """Why the last attempt to connect failed, in more words than a session has."""
        self._waiting: dict[str, Waiting] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._fault: Exception | None = None
        """What the session itself failed with."""

    async def open(self) -> None:
        """Connects. One attempt is made; connections that are lost later are replaced.

        Raises:
            ClientError: If it fails.
        """
        self._alarm = Alarm(self._ring)
        self._opening = asyncio.get_running_loop().create_future()
        try:
            self._hear(Requested(Open()))
            await self._opening
        finally:
            self._opening = None
            if not self._session.is_connected:
                await self._stop()

    async def close(self) -> None:
        """Says goodbye and ends the connection. What came before can still be read."""
        await self._stop()
        self.messages.end()
        self.failures.end()
        if self._fault is not None:
            raise self._fault

    async def ask(self, request: Request) -> Any:
        """Sends a message and waits for its answer, or until it has left if it has none.

        Raises:
            ClientError: If there is none, or it is a refusal.
        """
        if self._fault is not None:
            raise _broken(self._fault)
        if self._alarm is None:
            raise ClosedError
        answer = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = Waiting(request, answer)
        try:
            self._hear(Requested(request))
            return await answer
        finally:
            del self._waiting[request.id]
            if answer.cancelled():
                self._hear(Requested(Withdraw(request.id)))

    # What performing asks for.

    def let_out(self) -> None:
        """Nothing waits for this: frames leave as soon as they can."""

    def admitted(self, channel: Channel) -> None:
        """Nobody is told."""

    def dial(self, dial: Dial) -> None:
        """Begins to connect."""
        self._spawn(self._connect(dial), f"dial {dial.address}")

    def abandon(self, dial: Dial) -> None:
        """Ends an attempt to connect."""
        for task in self._tasks:
            if task.get_name() == f"dial {dial.address}":
                task.cancel()

    def _take(self, item: object) -> None:
        """Hands on what the session tells the application."""
        match item:
            case Arrived(message=message):
                self.messages.put(message)  # type: ignore[arg-type]
            case Answered(id=about, answer=answer):
                self._settle(about, answer)
            case Failed(error=error, id=None):
                self.failures.put_latest(self._explained(error))
            case Failed(error=error, id=str(about)):
                waiting = self._waiting.get(about)
                if waiting is not None and not waiting.answer.done():
                    waiting.answer.set_exception(self._explained(error))
            case Changed() if self._session.is_connected:
                self._settle_opening(None)
            case Ended(error=error):
                self._end(self._explained(error))

    def _settle(self, about: str, answer: object) -> None:
        waiting = self._waiting.get(about)
        if waiting is None or waiting.answer.done():
            return
        if waiting.request.answer is not None:
            waiting.answer.set_result(answer)
        elif self._channel is not None:
            self._channel.when_taken(waiting.answer)

    def _settle_opening(self, error: ClientError | None) -> bool:
        """Tells whoever opens the client how it went; gives whether anybody waits for that."""
        opening = self._opening
        if opening is None:
            return False
        if not opening.done():
            opening.set_result(None) if error is None else opening.set_exception(error)
        return True

    def _end(self, error: ClientError) -> None:
        """Nothing more comes or goes."""
        if not self._settle_opening(error):
            self.messages.end(None if isinstance(error, ClosedError) else error)
            self.failures.end()

    def _explained(self, error: ClientError) -> ClientError:
        is_bare = type(error) is UnreachableError and self._unreached is not None
        return (self._unreached or error) if is_bare else error

    def _break(self, event: Event, error: Exception) -> None:
        """The session failed: that is a fault of our own."""
        del event
        self._fault = error
        self._end(_broken(error))
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_exception(_broken(error))
        for task in self._tasks:
            task.cancel()

    # What happens.

    def _hear(self, event: Event) -> None:
        self._runner.hear(event)
        self._end_turn()

    def _end_turn(self) -> None:
        self._performer.begin()
        if self._session.is_waiting:
            self.messages.release()
        if self._alarm is not None:
            self._alarm.set(self._runner.next_timer_ms(), now_ms(self._tuning.clock))

    def _ring(self) -> None:
        self._runner.fire(MAX_TIMERS_A_TURN)
        self._end_turn()

    async def _connect(self, wanted: Dial) -> None:
        try:
            socket = await dial(self._where)
        except ClientError as error:
            self._unreached = error
            self._runner.fail(wanted, str(error))
            self._end_turn()
            return
        channel = ClientChannel(socket, wanted)
        self._channel = channel
        self._spawn(self._write(channel), "write")
        self._spawn(self._read(channel), "read")
        if self._runner.open(channel):
            self._runner.catch_up()
            self._end_turn()
        else:
            channel.close(1000, "")

    async def _read(self, channel: ClientChannel) -> None:
        try:
            while True:
                raw, text = await channel.socket.receive()
                self._hear(FrameReceived(channel.line, raw, text))
                if not self._session.is_waiting:
                    await self.messages.room()
        except LostError as lost:
            self._give_back(channel)
            code = ABNORMAL if lost.code is None else lost.code
            self._runner.end(channel, code, lost.reason)
            self._runner.catch_up()
            self._end_turn()

    async def _write(self, channel: ClientChannel) -> None:
        try:
            await channel.write()
        except LostError:  # whoever reads comes to the end, too, after what came before it
            self._give_back(channel)

    def _give_back(self, channel: ClientChannel) -> None:
        """Tells the session which requests a connection did not take.

        They may be sent again on the next one: a server does nothing twice that has the same id.
        """
        unsent = channel.unsent
        for request, answer in tuple(self._waiting.values()):
            if not answer.done() and any(request.id.encode() in raw for raw in unsent):
                self._hear(Requested(Unsent(request, channel.line)))

    async def _stop(self) -> None:
        """Ends the session and its connection, in good order if that takes not too long."""
        if self._alarm is None:
            return
        self._hear(Stopping())
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._tuning.goodbye_seconds)
        self._alarm.cancel()
        self._alarm = None
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._channel is not None:
            self._channel.socket.abort()
            self._channel = None

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Runs a task of the client's own; `close` waits for it."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _NoRecords:
    """A client keeps nothing across a crash: its session stores nothing."""

    def put(self, key: tuple[str, str, str], value: bytes | None) -> NoReturn:
        raise NotImplementedError(key)


def _broken(fault: Exception) -> ClientError:
    return ClientError(f"the client failed: {fault!r}")
