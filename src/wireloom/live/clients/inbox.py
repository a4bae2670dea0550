"""What came and was not yet read, as an asynchronous iterator."""

import asyncio
from collections import deque
from typing import Generic, TypeVar

from wireloom.live.clients.errors import ClientError

T = TypeVar("T")


class Inbox(Generic[T]):
    """Holds what came until it is read; iterating waits for the next.

    The iteration ends when the client is closed, and raises when its connection is lost for good;
    in both cases after all that came before.

    Args:
        limit: How many may wait before `room` waits.
    """

    def __init__(self, limit: int) -> None:
        self._items: deque[T] = deque()
        self._limit = limit
        self._news = asyncio.Event()
        self._space = asyncio.Event()
        self._is_over = False
        self._error: ClientError | None = None

    def __len__(self) -> int:
        return len(self._items)

    def __aiter__(self) -> "Inbox[T]":
        return self

    async def __anext__(self) -> T:
        while not self._items:
            if self._error is not None:
                raise self._error
            if self._is_over:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        item = self._items.popleft()
        if len(self._items) < self._limit:
            self._space.set()
        return item

    def put(self, item: T) -> None:
        """Adds an item, whatever the limit."""
        self._items.append(item)
        self._news.set()

    def put_latest(self, item: T) -> None:
        """Adds an item; the oldest goes if there are too many."""
        self.put(item)
        if len(self._items) > self._limit:
            self._items.popleft()

    async def room(self) -> None:
        """Waits until there is room, or `release` is called."""
        if len(self._items) >= self._limit:
            self._space.clear()
            await self._space.wait()

    def release(self) -> None:
        """Lets who waits for room go on without."""
        self._space.set()

    def end(self, error: ClientError | None = None) -> None:
        """Nothing more comes, because the client was closed or, if an error is given, of that."""
        if not self._is_over:
            self._is_over, self._error = True, error
        self._news.set()
        self._space.set()
