"""Examples for each number of a report: the latest messages or frames that it counts."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from wireloom.lake import Lake
from wireloom.report.books import MAX_REASONS, STATES
from wireloom.report.trace import names

MAX_ROWS: Final = 10
"""How many are listed of each kind: the latest."""

_WORD: Final = re.compile(r"\w+", re.ASCII)


class Kind(NamedTuple):
    """What one number counts."""

    protocol: str
    state: str
    """Of messages; `refused` for frames."""

    reason: str | None = None
    """Why, where the number counts one reason alone."""


class Examples(NamedTuple):
    """The latest messages or frames of a kind, and how many there are."""

    kind: Kind
    total: int
    query: str
    """The SQL query for all of them; empty where it would need quoting in a shell."""

    rows: list[dict[str, Any]]


REFUSED: Final = "refused"
MESSAGES: Final = ("fates", "*", "sent_at DESC, message_id, destination")
FRAMES: Final = (
    "quarantine",
    "sighting, captured_at, node, direction, peer, link, size, detail",
    "captured_at DESC, sighting",
)
"""A table, the columns that are listed, and their order."""


def examples(lake: Lake, found: Mapping[str, Any]) -> list[Examples]:
    """A list for every number above 0 in the books, and for every top reason.

    Raises:
        LakeError: If a table is missing or cannot be read.
    """
    lake.require("nodes")
    known = {name: names(lake, name) for name in found["books"]}
    lists = [_latest(lake, kind, total) for kind, total in _kinds(found)]
    for one in lists:
        for row in one.rows:
            _name(row, known.get(one.kind.protocol, {}))
    return lists


def kind_of(reason: Mapping[str, Any]) -> Kind:
    """What the number beside a reason counts."""
    state = "rejected" if reason["what"] == "message" else REFUSED
    return Kind(reason["protocol"], state, reason["reason"])


def _kinds(found: Mapping[str, Any]) -> Iterator[tuple[Kind, int]]:
    for name, entry in found["books"].items():
        yield from ((Kind(name, state), entry[state]) for state in STATES if entry[state])
    for row in found["reasons"][:MAX_REASONS]:
        yield kind_of(row), row["n"]


def _latest(lake: Lake, kind: Kind, total: int) -> Examples:
    wanted = {"protocol": kind.protocol}
    if kind.state != REFUSED:
        wanted["state"] = kind.state
    if kind.reason is not None:
        wanted["reason"] = kind.reason
    where = " AND ".join(f"{column} = {_quoted(value)}" for column, value in wanted.items())
    table, columns, order = FRAMES if kind.state == REFUSED else MESSAGES
    rows = lake.rows(
        f"SELECT {columns} FROM {table} WHERE {where} ORDER BY {order} LIMIT {MAX_ROWS}"  # noqa: S608
    )
    tame = all(_WORD.fullmatch(value) for value in wanted.values())
    query = f"SELECT * FROM {table} WHERE {where}" if tame else ""  # noqa: S608
    return Examples(kind, total, query, rows)


def _quoted(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _name(row: dict[str, Any], known: Mapping[str, str]) -> None:
    """Adds the names of nodes to a row with their identities."""
    for column in ("source", "destination"):
        row[f"{column}_name"] = known.get(str(row.get(column)))
