"""Settings that cannot work, told in one sentence before anything starts."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from typing import Final

RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "stop_seconds": (0, 3_600),
    "ping_seconds": (0.01, 86_400),
    "max_connections": (1, 10_000_000),
    "max_strangers": (1, 10_000_000),
    "stranger_rate": (0.001, 1_000_000),
}
"""What the numbers of the sections may be, by key."""

_AT: Final = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<where>.*)`)?$", re.DOTALL)
_UNKNOWN: Final = re.compile(r"unknown field `(.*)`", re.DOTALL)


def objection(key: str, value: object) -> str | None:
    """Why a number of a section cannot be what it is set to; None if it can."""
    if key not in RANGES or not isinstance(value, int | float):
        return None
    least, most = RANGES[key]
    if isfinite(value) and least <= value <= most:
        return None
    return f"{value} cannot work; it must be from {least:,} to {most:,}"


def limit_objection(value: object) -> str | None:
    """Why a limit of a session cannot be what it is set to, whichever it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not isfinite(value):
        return f"{value} is no limit"
    return f"{value} cannot work; it must not be negative" if value < 0 else None


def explained(error: Exception, sections: Mapping[str, Iterable[str]]) -> str:
    """What is wrong with a value, by its key as the file has it.

    Args:
        error: What msgspec says.
        sections: The keys of every table, by its path.
    """
    found = _AT.match(str(error))
    what, where = (found["what"], found["where"] or "") if found else (str(error), "")
    unknown = _UNKNOWN.search(what)
    if unknown is None:
        return f"{where}: {what}" if where else what
    keys = sorted(sections.get(where, ()))
    return f"{where or 'the file'} has no {unknown[1]}; {nearest(unknown[1], keys)}"


def nearest(name: str, known: Iterable[str]) -> str:
    """What somebody may have meant, or all that there is."""
    names = list(known)
    close = get_close_matches(name, names, 1)
    return f"did you mean {close[0]}?" if close else f"there is {', '.join(names)}"
