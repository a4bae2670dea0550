"""Progress: the functions that a run of the pipeline calls as it gets on."""

from collections.abc import Callable

TableStarted = Callable[[str, int, int], None]
"""Is called when a table's turn begins: its name, its place among all, and how many these are."""


def silent(*_: object) -> None:
    """Does nothing: for callers that want no progress."""
