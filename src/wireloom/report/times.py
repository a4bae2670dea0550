"""Times for people: `12 ms`, `2.08 s`, `3 h 08 min`, `2026-01-01 06:00:00 UTC`."""

from datetime import datetime


def spoken(ms: float) -> str:
    """A duration in the two units that matter."""
    if ms < 0:
        return f"−{spoken(-ms)}"
    if ms < 999.5:
        return f"{ms:.1f} ms" if 0 < ms < 9.95 else f"{ms:.0f} ms"
    seconds = ms / 1_000
    if seconds < 59.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    if round(seconds) < 3_600:
        return _two(round(seconds), 60, "min", "s")
    if round(seconds / 60) < 1_440:
        return _two(round(seconds / 60), 60, "h", "min")
    return _two(round(seconds / 3_600), 24, "d", "h")


def _two(count: int, size: int, big: str, small: str) -> str:
    return f"{count // size} {big} {count % size:02d} {small}"


def after(ms: float) -> str:
    """How much later, or earlier."""
    return spoken(ms) if ms < 0 else f"+{spoken(ms)}"


def instant(at: datetime) -> str:
    """When it was, to the second."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def exact(at: datetime) -> str:
    """When it was, to the millisecond."""
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d} UTC"
