"""Requests that wait for their answers."""

import asyncio
from typing import Generic, NamedTuple, TypeVar

from wireloom.live.clients.errors import ClientError

T = TypeVar("T")


class _Request(NamedTuple, Generic[T]):
    wanted: type[T]
    answer: asyncio.Future[T]


class Pending(Generic[T]):
    """Requests by the id of their message, oldest first."""

    def __init__(self) -> None:
        self._requests: dict[str, _Request[T]] = {}

    def __len__(self) -> int:
        return len(self._requests)

    def expect(self, message_id: str, wanted: type[T]) -> asyncio.Future[T]:
        """Gives what will hold the answer to a message that is about to be sent."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._requests[message_id] = _Request(wanted, answer)
        return answer

    def oldest(self, wanted: type[T]) -> str | None:
        """The first request that waits for such an answer."""
        return next((key for key, one in self._requests.items() if one.wanted is wanted), None)

    def answer(self, message_id: str | None, answer: T) -> bool:
        """Hands an answer to who waits for it; gives whether anybody does."""
        request = self._requests.get(message_id or "")
        if request is None or request.answer.done():
            return False
        request.answer.set_result(answer)
        return True

    def fail(self, message_id: str | None, error: ClientError) -> bool:
        """Hands a failure to who waits for an answer; gives whether anybody does."""
        request = self._requests.get(message_id or "")
        if request is None or request.answer.done():
            return False
        request.answer.set_exception(error)
        return True

    def fail_unread(self, raw: bytes, error: ClientError, *, named_only: bool = False) -> bool:
        """Hands a failure to those whose answer may be in a frame that cannot be read.

        They are those whose ids stand in it; if there are none, all who wait.

        Args:
            raw: The frame.
            error: Why it cannot be read.
            named_only: Whether only those are meant whose ids stand in it.

        Returns:
            Whether anybody waits.
        """
        named = [one for one in self._requests if one.encode() in raw]
        meant = named if named or named_only else list(self._requests)
        failed = [self.fail(one, error) for one in meant]
        return any(failed)

    def fail_all(self, error: ClientError) -> None:
        """Nobody gets an answer any more."""
        for message_id in list(self._requests):
            self.fail(message_id, error)

    def forget(self, message_id: str) -> None:
        """Nobody waits for this answer any more."""
        request = self._requests.pop(message_id, None)
        if request is not None and not request.answer.cancel() and not request.answer.cancelled():
            request.answer.exception()  # whoever waited has seen it, or will see another error
