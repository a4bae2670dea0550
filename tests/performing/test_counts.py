"""How many frames came in and left."""

from wireloom.performing.counts import FrameCounts


def test_nothing_is_counted_at_first() -> None:
    counts = FrameCounts()
    assert (counts.received, counts.sent) == ({}, {})
