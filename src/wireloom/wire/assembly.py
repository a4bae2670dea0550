"""Putting fragments together again, in bounded memory.

Time is an argument, and nothing is kept for longer than `timeout_ms`: every call drops what
has run out first. When `max_pending` messages are incomplete, the oldest gives way.
"""

from collections.abc import Hashable

from wireloom.wire.errors import MalformedError


class _Pending:
    __slots__ = ("deadline_ms", "parts", "total")

    def __init__(self, total: int, deadline_ms: int) -> None:
        self.total = total
        self.deadline_ms = deadline_ms
        self.parts: dict[int, bytes] = {}


class Assembler:
    """Collects the fragments of many messages at once.

    Args:
        timeout_ms: How long an incomplete message is kept.
        extend: Whether each new fragment starts that time anew.
        max_pending: How many incomplete messages are kept.
    """

    def __init__(self, *, timeout_ms: int, extend: bool, max_pending: int = 256) -> None:
        self._timeout_ms = timeout_ms
        self._extend = extend
        self._max_pending = max_pending
        self._pending: dict[Hashable, _Pending] = {}
        self.dropped_count = 0
        """Incomplete messages that ran out of time or room."""

    def add(
        self, key: Hashable, index: int, total: int, part: bytes, *, now_ms: int
    ) -> bytes | None:
        """Takes one fragment; gives the whole message if it was the last one missing.

        Args:
            key: What tells this message from others: peer and fragment id.
            index: The fragment's place, from 0.
            total: How many fragments the message has.
            part: The fragment's content.
            now_ms: The time.

        Raises:
            MalformedError: If it contradicts the fragments that came before it.
        """
        self._drop_overdue(now_ms)
        pending = self._pending.get(key)
        if pending is None:
            pending = self._begin(key, total, now_ms)
        if pending.total != total:
            raise MalformedError(f"fragment of {total}, earlier ones were of {pending.total}")
        if pending.parts.setdefault(index, part) != part:
            raise MalformedError(f"fragment {index} came before with another content")
        if self._extend:
            pending.deadline_ms = now_ms + self._timeout_ms
        if len(pending.parts) < total:
            return None
        del self._pending[key]
        return b"".join(pending.parts[i] for i in range(total))

    @property
    def pending_count(self) -> int:
        """How many messages are incomplete."""
        return len(self._pending)

    def _begin(self, key: Hashable, total: int, now_ms: int) -> _Pending:
        if len(self._pending) >= self._max_pending:
            del self._pending[next(iter(self._pending))]
            self.dropped_count += 1
        pending = self._pending[key] = _Pending(total, now_ms + self._timeout_ms)
        return pending

    def _drop_overdue(self, now_ms: int) -> None:
        overdue = [key for key, one in self._pending.items() if one.deadline_ms <= now_ms]
        for key in overdue:
            del self._pending[key]
        self.dropped_count += len(overdue)
