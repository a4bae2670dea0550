"""Merging a few rows into a table, in place of the rows that they touch.

Files are never changed, only replaced, so the cost of a merge is the size of the files that it
touches. New rows are therefore written together with the small files, until these have grown, and
a larger file that is touched is rewritten in pieces.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.pipeline.log import File
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Table

SMALL: Final = 5_000
"""Files with fewer rows are rewritten with each merge, so that there are few files."""

PIECE: Final = 20_000
"""The most rows of a file that is written."""


class Removal(NamedTuple):
    """The rows that a merge removes: those with one of these values in a column."""

    column: str
    values: pa.Array

    def among(self, rows: pa.Table) -> pa.ChunkedArray:
        """For each row, whether it is removed."""
        return pc.is_in(rows.column(self.column), value_set=self.values)


def merge(  # noqa: PLR0913
    store: TableStore,
    table: Table,
    touched: Removal,
    rows: pa.Table,
    *,
    app: str,
    version: int,
    also: Mapping[str, int] | None = None,
) -> int:
    """Puts `rows` in the place of the touched ones, in one transaction.

    Args:
        store: The tables.
        table: The table.
        touched: Which rows are removed.
        rows: The rows that are added.
        app: Who merges.
        version: Up to where. If it did so before, nothing is done.
        also: Who else has got how far with this.

    Returns:
        How many rows were added.
    """
    if store.log.done(table.name, app) >= version:
        return 0
    done = {app: version, **(also or {})}
    key = [touched.column]
    hit = [
        file
        for file, keys in store.holding(table, key, key, touched.values)
        if pc.any(touched.among(keys)).as_py()
    ]
    if not hit and not rows.num_rows:
        return store.log.commit(table, [], done)
    small = [file for file in store.log.files(table.name) if file.rows < SMALL]
    large = [file for file in hit if file.rows >= SMALL]
    added = rows.select(table.arrow.names).cast(table.arrow)
    parts = [pa.concat_tables([added, *_left(store, table, small, touched)])]
    parts += _left(store, table, large, touched)
    paths = [store.written(table, piece) for part in parts for piece in _pieces(part)]
    store.log.commit(table, paths, done, removed=[*small, *large])
    return int(rows.num_rows)


def _left(
    store: TableStore, table: Table, files: list[File], touched: Removal
) -> Iterator[pa.Table]:
    """What is left of each file."""
    for _, rows in store.scan(table, table.arrow.names, files):
        yield rows.filter(pc.invert(touched.among(rows))).cast(table.arrow)


def _pieces(rows: pa.Table) -> Iterator[pa.Table]:
    for begin in range(0, rows.num_rows, PIECE):
        yield rows.slice(begin, PIECE)
