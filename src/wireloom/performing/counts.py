"""How many frames came in and left, for whoever keeps no more than that."""

from collections import Counter

from wireloom.wire.outcome import Outcome, Reason


class FrameCounts:
    """How many frames came in and left, by what became of them."""

    def __init__(self) -> None:
        self.received: Counter[tuple[str | None, Outcome, Reason | None]] = Counter()
        self.sent: Counter[Outcome | None] = Counter()
