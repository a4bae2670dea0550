"""The virtual clock of a corpus, and the order in which its frames are written.

A conversation schedules all its frames when it begins, some of them hours ahead. The timeline
keeps those that are still to come and lets the others go, oldest first, so that every node's
log is in order of time and memory holds only what overlaps.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Final

from wireloom.capture.frame import CapturedFrame

START_MS: Final = 1_767_225_600_000
"""Every corpus begins at 2026-01-01T00:00:00Z."""

END_MS: Final = START_MS + 6 * 3_600_000
"""Every corpus ends six hours later, with a frame at this very instant: the horizon."""

QUIET_MS: Final = 10_000
"""No conversation begins so shortly before the end, so that quick answers are always seen."""

START_US: Final = START_MS * 1000
END_US: Final = END_MS * 1000
SECOND_US: Final = 1_000_000
MINUTE_US: Final = 60 * SECOND_US


class Timeline:
    """Frames on their way from conversations to the log.

    Args:
        write: Takes each frame, in order of time.
    """

    def __init__(self, write: Callable[[CapturedFrame], None]) -> None:
        self._write = write
        self._coming: list[tuple[int, int, CapturedFrame]] = []
        self.count = 0
        """How many frames were scheduled."""

    def add(self, frame: CapturedFrame) -> bool:
        """Schedules a frame; False if it would come after the end and is not captured."""
        if frame.captured_at > END_US:
            return False
        heappush(self._coming, (frame.captured_at, self.count, frame))
        self.count += 1
        return True

    def advance(self, until_us: int) -> None:
        """Writes all frames up to an instant. Nothing is scheduled before it any more."""
        while self._coming and self._coming[0][0] <= until_us:
            self._write(heappop(self._coming)[2])


def conversation_at(share: float) -> int:
    """When a conversation begins after this share of all frames, in µs since 1970."""
    return START_US + int((END_US - QUIET_MS * 1000 - START_US) * min(share, 1.0))
