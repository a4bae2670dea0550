"""Progress: the functions that a run of the pipeline calls as it gets on."""

from collections.abc import Callable
from typing import Final, NamedTuple

from wireloom.pipeline.stages.ingest import IngestedBatch

TableStarted = Callable[[str, int, int], None]
"""Is called when a table's turn begins: its name, its place among all, and how many these are."""


def silent(*_: object) -> None:
    """Does nothing: for callers that want no progress."""


class Progress(NamedTuple):
    """What is called during a run."""

    batch: Callable[[IngestedBatch], None] = silent
    """A micro-batch is committed."""

    stage: Callable[[str], None] = silent
    """A stage begins."""

    table: Callable[[str, int], None] = silent
    """A table is committed, with its number of rows."""

    table_started: TableStarted = silent
    """A table is about to be computed."""

    trouble: Callable[[str], None] = silent
    """Object storage did not answer: why, in a sentence. It is tried again."""

    slice: Callable[[int, int], None] = silent
    """A slice is decoded anew: its number, and the number of the last one."""


SILENT: Final = Progress()
