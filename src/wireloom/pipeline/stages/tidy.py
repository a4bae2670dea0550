"""Tidy: the many small files of a watch are put together while more keep coming.

Otherwise a day of it would leave a hundred thousand files, and each pass would open them all.
"""

from contextlib import suppress
from typing import Final

from deltalake import WriterProperties
from deltalake.exceptions import CommitFailedError

from wireloom.pipeline import declared
from wireloom.pipeline.store import TableStore

MANY_FILES: Final = 32
SIZES: Final = (8 << 20, 128 << 20)
"""Small files become medium ones, and many medium ones large ones: a row is written twice more."""

_WRITTEN: Final = WriterProperties(
    compression="ZSTD", compression_level=1, max_row_group_size=20_000
)
"""In row groups so small that little is read for the sake of one row."""


def tidy(store: TableStore) -> None:
    """Puts files of what ingest fills together, where there are many."""
    for table in declared.ingested():
        for size in SIZES:
            if sum(file.size < size for file in store.log.files(table.name)) >= MANY_FILES:
                _compact(store, table.name, size)


def _compact(store: TableStore, name: str, size: int) -> None:
    opened = store.log.open(name)
    if opened is not None:
        # Somebody else may be doing the same; then there is nothing left to do.
        with suppress(CommitFailedError):
            opened.optimize.compact(target_size=size, writer_properties=_WRITTEN)
