"""How far a peer has been asked for what it has, window by window."""

from collections import deque
from typing import Final

REMEMBERED: Final = 64
"""Tickets of a peer that are known after their time: answers come late, and twice."""


class Sweep:
    """One peer's sweep, and the one pull that may be open."""

    __slots__ = (
        "is_under_way",
        "is_whole",
        "owed",
        "spent",
        "start_ms",
        "ticket",
        "tries",
        "until_ms",
        "vain_count",
        "whole_ms",
    )

    def __init__(self) -> None:
        self.ticket: bytes | None = None
        """That of the pull whose answer is awaited."""
        self.spent: deque[bytes] = deque(maxlen=REMEMBERED)
        """Tickets that were answered, or whose answer is not awaited any more."""
        self.is_under_way = False
        self.start_ms = 0
        """Where the window that is asked for, or comes next, begins."""
        self.until_ms = 0
        """Where it and the sweep end; what is answered may end earlier."""
        self.is_whole = False
        """Whether it began at the oldest message that may be alive."""
        self.whole_ms: int | None = None
        """When such a sweep last came to its end."""
        self.owed = 0
        """Messages that were pulled by their hashes since the last answer and have not come."""
        self.vain_count = 0
        """Sweeps that were given up since it last answered."""
        self.tries = 0
        """How often the window was asked for in vain."""

    def spend(self) -> None:
        """The answer to the open pull has come, or is not awaited any more."""
        if self.ticket is not None:
            self.spent.append(self.ticket)
            self.ticket = None
