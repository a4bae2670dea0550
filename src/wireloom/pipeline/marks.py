"""Which row groups of a table's files may hold a value, without opening the files again.

A file never changes, so the hashes of its values are kept in memory, eight bytes per value. Two
values may have the same hash: a hit means that the row group may hold the value, a miss that it
does not.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wireloom.pipeline.paths import leaf
from wireloom.wire.batch import Array

MOST: Final = 16_000_000
"""The most hashes that are kept for a table; further files are read each time."""


class Marks:
    """The hashes of the files that were read."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], dict[str, list[Array]]] = {}

    def holding(
        self,
        table: str,
        columns: Sequence[str],
        values: pa.Array,
        paths: Iterable[str],
        opened: Callable[[str], pq.ParquetFile],
    ) -> dict[str, list[int]]:
        """The row groups, by file, that may have one of `values` in one of `columns`.

        Args:
            table: The table's name.
            columns: Where to look.
            values: What to look for.
            paths: All files that make up the table now; others are forgotten.
            opened: Opens one of them.
        """
        wanted = _hashed([values])
        before = self._known.get((table, *columns), {})
        kept: dict[str, list[Array]] = {}
        room = MOST
        found = {}
        for path in paths:
            marks = before[path] if path in before else _marked(opened(path), columns)
            room -= sum(len(mark) for mark in marks)
            if room >= 0:
                kept[path] = marks
            groups = [group for group, mark in enumerate(marks) if _meet(mark, wanted)]
            if groups:
                found[path] = groups
        self._known[table, *columns] = kept
        return found


def _marked(file: pq.ParquetFile, columns: Sequence[str]) -> list[Array]:
    """The hashes of what each row group holds."""
    with file:
        groups = [file.read_row_group(group, list(columns)) for group in range(file.num_row_groups)]
    return [_hashed([leaf(rows, path) for path in columns]) for rows in groups]


def _hashed(columns: Sequence[pa.Array | pa.ChunkedArray]) -> Array:
    distinct = [pc.unique(column).drop_null().to_pylist() for column in columns]
    hashes = [hash(value) for values in distinct for value in values]
    found: Array = np.unique(np.array(hashes, np.int64))
    return found


def _meet(marks: Array, wanted: Array) -> bool:
    """Whether two sorted arrays have a number in common."""
    if not len(marks):
        return False
    places = np.minimum(np.searchsorted(marks, wanted), len(marks) - 1)
    return bool((marks[places] == wanted).any())
