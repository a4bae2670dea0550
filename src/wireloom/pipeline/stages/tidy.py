"""Tidy: compacts the many small files of a watch while it runs.

Otherwise a day of watching would leave a hundred thousand files, and each pass would open them all.
"""

from contextlib import suppress
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
