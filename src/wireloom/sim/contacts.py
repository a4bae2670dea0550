"""Who is near whom and when, from a file in the connection-trace format of the ONE simulator.

Each line is `<seconds> CONN <node> <node> up|down`; nodes are numbered from 0. Empty lines and
those that begin with `#` say nothing.
"""

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import NamedTuple


class Contact(NamedTuple):
    """Two nodes begin or cease to be near each other."""

    seconds: float
    one: int
    other: int
    is_up: bool


def contacts(lines: Iterable[str]) -> Iterator[Contact]:
    """The contacts of a file.

    Raises:
        ValueError: If a line is none, or earlier than the one before it.
    """
    last = 0.0
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        contact = _contact(line.split())
        if contact is None:
            raise ValueError(f"line {number} is no contact: {line.strip():.60}")
        if contact.seconds < last:
            raise ValueError(f"line {number} is earlier than the one before it")
        last = contact.seconds
        yield contact


def _contact(words: list[str]) -> Contact | None:
    match words:
        case [at, "CONN", one, other, ("up" | "down") as way]:
            if not (one.isdecimal() and other.isdecimal()):
                return None
            try:
                seconds = float(at)
            except ValueError:
                return None
            if isfinite(seconds) and seconds >= 0:
                return Contact(seconds, int(one), int(other), way == "up")
    return None
