"""Requests that wait for their answers."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from wireloom.wire.client.errors import ClientError
from wireloom.wire.session import Turn

T = TypeVar("T")
Settle = Callable[[T | ClientError, Turn], None]
"""What is to be done about an answer, or about the lack of one."""


class _Ask(NamedTuple, Generic[T]):
    wanted: type
    settle: Settle[T]


class Asks(Generic[T]):
    """Requests by the id of their message, oldest first. Each is settled once."""

    __slots__ = ("_asks",)

    def __init__(self) -> None:
        self._asks: dict[str, _Ask[T]] = {}

    def __len__(self) -> int:
        return len(self._asks)

    def expect(self, message_id: str, wanted: type, settle: Settle[T]) -> None:
        """Waits for the answer to a message that is about to be sent."""
        self._asks[message_id] = _Ask(wanted, settle)

    def oldest(self, wanted: type) -> str | None:
        """The first request that waits for such an answer."""
        return next((key for key, one in self._asks.items() if one.wanted is wanted), None)

    def answer(self, message_id: str | None, answer: T | ClientError, turn: Turn) -> bool:
        """Settles a request by an answer or a failure; gives whether it waited."""
        ask = self._asks.pop(message_id or "", None)
        if ask is None:
            return False
        ask.settle(answer, turn)
        return True

    def fail_unread(
        self, raw: bytes, error: ClientError, turn: Turn, *, named_only: bool = False
    ) -> bool:
        """Fails the requests whose answer may be in a frame that cannot be read.

        They are those whose ids stand in it; if there are none, all that wait.

        Args:
            raw: The frame.
            error: Why it cannot be read.
            turn: What comes of it.
            named_only: Whether only those are meant whose ids stand in it.

        Returns:
            Whether any request waited.
        """
        named = [one for one in self._asks if one.encode() in raw]
        meant = named if named or named_only else list(self._asks)
        for one in meant:
            self.answer(one, error, turn)
        return bool(meant)

    def fail_all(self, error: ClientError, turn: Turn) -> None:
        """Fails all that wait."""
        for message_id in list(self._asks):
            self.answer(message_id, error, turn)

    def forget(self, message_id: str) -> bool:
        """Nobody waits for this answer any more; gives whether somebody did."""
        return self._asks.pop(message_id, None) is not None
