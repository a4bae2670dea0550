"""What can be read of a damaged store, into a new one; the damaged file is kept beside it.

Records lie in pages by number. Where a range of numbers cannot be read, each half of it is tried
on its own, down to single records.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

MAX_ATTEMPTS: Final = 20_000
"""Ranges that are tried: enough for hundreds of damaged pages, and soon done."""

_RANGE: Final = (
    "SELECT number, protocol, kind, key, value FROM records WHERE number BETWEEN ? AND ?"
)
_PUT: Final = "INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?, ?)"
_LAST: Final = (1 << 62) - 1

Row = tuple[Any, ...]


def is_sound(connection: sqlite3.Connection) -> bool:
    """Whether SQLite finds nothing wrong with the pages of a store."""
    try:
        (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error:
        return False
    return bool(said == "ok")


def salvage(damaged: sqlite3.Connection, into: sqlite3.Connection) -> tuple[int, int]:
    """Copies all records that can be read; gives how many, and how many gaps there are.

    Raises:
        sqlite3.Error: If the new store does not take them.
    """
    count = gaps = 0
    into.execute("BEGIN")
    for rows in _readable(damaged):
        gaps += rows is None
        into.executemany(_PUT, rows or ())
        count += len(rows or ())
    into.execute("COMMIT")
    return count, gaps


def put_aside(path: Path) -> Path:
    """Gives a damaged store another name, which no earlier one has; gives that name.

    Raises:
        OSError: If that cannot be done.
    """
    number = 1
    while (kept := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(kept)
    for ending in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            Path(f"{path}{ending}").rename(f"{kept}{ending}")
    return kept


def _readable(damaged: sqlite3.Connection) -> Iterator[list[Row] | None]:
    """Records by ranges, None for a range in which nothing can be read."""
    ranges = [(0, _LAST)]
    for _ in range(MAX_ATTEMPTS):
        if not ranges:
            return
        first, last = ranges.pop()
        try:
            yield damaged.execute(_RANGE, (first, last)).fetchall()
        except sqlite3.Error:
            if first == last:
                yield None
            else:
                middle = (first + last) // 2
                ranges += [(middle + 1, last), (first, middle)]
    if ranges:
        yield None
