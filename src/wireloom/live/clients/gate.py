"""When a client may send."""

import asyncio

from wireloom.live.clients.errors import ClientError, ClosedError


class Gate:
    """Lets messages pass while the connection is up and the server has not paused the client."""

    def __init__(self) -> None:
        self._is_up = False
        self._is_paused = False
        self._end: ClientError | None = ClosedError()
        self._free = asyncio.Event()
        self._resumed = asyncio.Event()

    def begin(self) -> None:
        """The client was opened: from now on, who wants to pass waits for the connection."""
        self._end = None
        self._settle()

    def raise_up(self) -> None:
        """The connection is up."""
        self._is_up = True
        self._settle()

    def take_down(self) -> None:
        """The connection was lost; a pause ends with it."""
        self._is_up = self._is_paused = False
        self._settle()

    def pause(self) -> None:
        """Holds all back."""
        self._is_paused = True
        self._settle()

    def resume(self) -> None:
        """Lets all pass again."""
        self._is_paused = False
        self._settle()

    def end(self, error: ClientError) -> None:
        """Nothing will ever pass again; the first reason holds."""
        self._end = self._end or error
        self._settle()

    async def passed(self) -> None:
        """Waits until a message may be sent.

        Raises:
            ClientError: If none ever will be.
        """
        while self._end is None and not self._is_free:
            await self._free.wait()
        if self._end is not None:
            raise self._end

    async def resumed(self) -> None:
        """Waits until the server wants to hear something again."""
        await self._resumed.wait()

    @property
    def _is_free(self) -> bool:
        return self._is_up and not self._is_paused

    def _settle(self) -> None:
        if self._is_free or self._end is not None:
            self._free.set()
        else:
            self._free.clear()
        if self._is_paused:
            self._resumed.clear()
        else:
            self._resumed.set()
