"""Tidy: compacts the many small files of a watch while it runs, and deletes what was replaced.

Otherwise a day of watching would leave a hundred thousand files, and each pass would open them all.
The logs keep themselves short: there is a checkpoint every hundred commits, and what is older than
the tables' `logRetentionDuration` goes (`pipeline.log`).
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from time import monotonic
from typing import Final

from deltalake import WriterProperties
from deltalake.exceptions import CommitFailedError

from wireloom.pipeline import frame_tables
from wireloom.pipeline.store import TableStore

MANY_FILES: Final = 32
SIZES: Final = (8 << 20, 128 << 20)
"""Small files become medium ones, and medium ones large ones: each row is rewritten twice."""

_WRITTEN: Final = WriterProperties(
    compression="ZSTD", compression_level=1, max_row_group_size=20_000
)
"""With small row groups: little is read to find one row."""


KEPT_HOURS: Final = 2
"""How long a file stays that its table no longer names: somebody may be reading it."""

SWEEP_SECONDS: Final = 600.0


class Sweeper:
    """Deletes, now and then, the files that tables no longer name.

    Args:
        store: The tables.
        clock: Seconds that only go forward.
    """

    def __init__(self, store: TableStore, clock: Callable[[], float] = monotonic) -> None:
        self._store = store
        self._clock = clock
        self._swept_at = clock()

    def sweep(self, names: Iterable[str]) -> None:
        """Does so if it is time: a merge leaves the files that it replaces."""
        if self._clock() - self._swept_at < SWEEP_SECONDS:
            return
        self._swept_at = self._clock()
        for name in names:
            opened = self._store.log.open(name)
            if opened is not None:
                opened.vacuum(
                    retention_hours=KEPT_HOURS, dry_run=False, enforce_retention_duration=False
                )


def tidy(store: TableStore) -> None:
    """Compacts the files of those tables of ingest that have many."""
    for table in frame_tables.ingested():
        for size in SIZES:
            if sum(file.size < size for file in store.log.files(table.name)) >= MANY_FILES:
                _compact(store, table.name, size)


def _compact(store: TableStore, name: str, size: int) -> None:
    opened = store.log.open(name)
    if opened is not None:
        # Another process may have compacted them: then there is nothing left to do.
        with suppress(CommitFailedError):
            opened.optimize.compact(target_size=size, writer_properties=_WRITTEN)
