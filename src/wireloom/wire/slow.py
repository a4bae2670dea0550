"""Peers that were cut off because they did not read, counted by name."""

from collections import Counter
from typing import Final

MAX_NAMES: Final = 1_000
"""Peers that are counted by name; all others are counted together."""

OTHERS: Final = "others"


class SlowReaders(Counter[str]):
    """How often each peer was cut off. The number of names is bounded, whoever connects."""

    def note(self, name: str | None) -> None:
        """Counts a peer that is cut off; one without a name counts among the others."""
        known = name is not None and (name in self or len(self) < MAX_NAMES)
        self[name if known and name is not None else OTHERS] += 1
