"""The last frames of a world: what a failure is told with."""

from collections import deque
from collections.abc import Collection
from typing import Final

MAX_FRAMES: Final = 4_096
"""Frames that are remembered."""

Flight = tuple[int, str, str, bytes]
"""When a frame arrives, from whom, at whom, and its bytes."""


class Recent:
    """Remembers the last frames."""

    def __init__(self) -> None:
        self._flights: deque[Flight] = deque(maxlen=MAX_FRAMES)
        self.note = self._flights.append
        """Takes a frame."""

    def of(self, names: Collection[str], count: int) -> list[Flight]:
        """The last frames from or to these machines, the oldest first."""
        chosen = [one for one in self._flights if one[1] in names or one[2] in names]
        return sorted(chosen, key=lambda one: one[0])[-count:]
