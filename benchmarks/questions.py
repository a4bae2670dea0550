"""Do `wireloom trace` and `wireloom sql` answer at once, on the tables of a million frames?

Each command runs as a process of its own, as a person would start it: the time is from its start
to its end, start of Python included. The median of five counts.
"""

import statistics
import subprocess
import sys
from pathlib import Path
from typing import Final

from corpora import FRAMES, tables
from timing import Figure, seconds
from wireloom.lake import Lake

ROUNDS: Final = 5
MOST: Final = 2.0
FATES: Final = "SELECT protocol, state, count(*) FROM fates GROUP BY ALL ORDER BY ALL"
TYPES: Final = "SELECT protocol, type, count(*), sum(size) FROM frames GROUP BY ALL ORDER BY ALL"


def measure() -> list[Figure]:
    """The figures."""
    data = tables()
    return [
        *[_answer(data, f"trace of a {name} message", "trace", id_) for name, id_ in _ids(data)],
        _answer(data, "sql, the fates by state", "sql", FATES),
        _answer(data, "sql, all frames by type", "sql", TYPES),
    ]


def _ids(data: Path) -> list[tuple[str, str]]:
    """Of each protocol, the message with the most sightings."""
    query = """
        SELECT protocol, arg_max(message_id, sightings) AS id FROM (
            SELECT protocol, message_id, count(*) AS sightings FROM frames
            WHERE message_id IN (SELECT message_id FROM fates)
            GROUP BY ALL
        ) GROUP BY protocol ORDER BY protocol
    """
    return [(str(row["protocol"]), str(row["id"])) for row in Lake(data / "tables").rows(query)]


def _answer(data: Path, question: str, *arguments: str) -> Figure:
    command = [str(Path(sys.executable).with_name("wireloom")), *arguments, "--data", str(data)]
    taken = [
        seconds(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True))
        for _ in range(ROUNDS)
    ]
    return Figure(
        f"{question}, tables of {FRAMES:,} frames",
        f"{statistics.median(taken):.2f} s",
        f"slowest of {ROUNDS}: {max(taken):.2f} s",
        statistics.median(taken),
        MOST,
        unit=" s",
        at_most=True,
    )
