"""Keeps a client connected: one connection after the other, as long as that makes sense."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from wireloom.live.clients.errors import ClientError, LostError
from wireloom.live.clients.sockets import Socket
from wireloom.live.clients.tuning import Tuning


class Speaker(Protocol):
    """What a client says and hears on its connections."""

    async def greet(self, socket: Socket) -> None:
        """Opens the session on a new connection; raises a `ClientError` if it does not open."""

    async def attend(self) -> None:
        """Does what has to be done while the connection lasts; raises a `ClientError` to end it."""

    async def hear(self, raw: bytes, *, text: bool) -> None:
        """Takes a frame; raises a `ClientError` to end the connection."""

    def is_final(self, error: ClientError) -> bool:
        """Whether there is no use in connecting again."""

    def lose(self, error: ClientError) -> None:
        """The connection was lost; another may follow."""

    def end(self, error: ClientError) -> None:
        """No other connection follows."""


class Lifeline:
    """Runs a client's connections.

    Args:
        speaker: The client.
        dial: Opens a connection.
        tuning: Time, chance and patience.
    """

    def __init__(
        self, speaker: Speaker, dial: Callable[[], Awaitable[Socket]], tuning: Tuning
    ) -> None:
        self._speaker = speaker
        self._dial = dial
        self._tuning = tuning
        self._socket: Socket | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_closing = False

    async def open(self) -> None:
        """Connects for the first time. One attempt is made; what follows is reconnected.

        Raises:
            ClientError: If it fails.
        """
        socket = await self._connected()
        # A task of the client's own: its body outlives this call, and `close` waits for it.
        self._task = asyncio.create_task(self._run(socket))

    async def send(self, raw: bytes, *, text: bool = False) -> None:
        """Sends a frame on the connection of the moment.

        Raises:
            LostError: If there is none.
        """
        if self._socket is None:
            raise LostError(None)
        await self._socket.send(raw, text=text)

    async def close(self) -> None:
        """Ends the connection, and connects no more."""
        self._is_closing = True
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])  # unlike an await, it tells its own cancelling from ours
        await self._drop()
        if task is not None and not task.cancelled():
            task.result()

    async def _run(self, socket: Socket) -> None:
        try:
            while True:
                error = await self._live(socket)
                if self._is_closing:  # a group that fails when it is cancelled tells the failure
                    return
                self._speaker.lose(error)
                await self._drop()
                socket = await self._again(error)
        except ClientError as error:
            self._speaker.end(error)
        except Exception as error:
            self._speaker.end(ClientError(f"the client failed: {error!r}"))
            raise

    async def _live(self, socket: Socket) -> ClientError:
        """Uses a connection until it ends; gives why it did."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._speaker.attend())
                tasks.create_task(self._read(socket))
        except* ClientError as group:
            ended = _first(group)
        return ended

    async def _read(self, socket: Socket) -> None:
        while True:
            raw, text = await socket.receive()
            await self._speaker.hear(raw, text=text)

    async def _again(self, error: ClientError) -> Socket:
        """Connects again, with longer and longer pauses.

        Raises:
            ClientError: If there is no use in it, or every attempt failed.
        """
        backoff = self._tuning.backoff
        for attempt in range(backoff.tries):
            if self._speaker.is_final(error):
                break
            await self._tuning.sleep(backoff.seconds(attempt, self._tuning.random()))
            try:
                return await self._connected()
            except ClientError as failed:
                error = failed
        raise error

    async def _connected(self) -> Socket:
        socket = await self._dial()
        try:
            await self._speaker.greet(socket)
        except BaseException:
            await socket.close()
            raise
        self._socket = socket
        return socket

    async def _drop(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()


def _first(group: BaseExceptionGroup[ClientError]) -> ClientError:
    """The first error in a group, however deep."""
    found = group.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found
