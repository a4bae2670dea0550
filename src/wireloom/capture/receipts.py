"""What pipelines have stored of the log, and what was shipped: receipts beside the segments.

```
captures/<16 hex digits>.taken      one a root of tables; JSON
{"tables": the root, "batches": {segment: how many of its batches are stored}}
```

A node that ships its segments writes one too: `tables` is where they go, and `node` whose they are.
It is about the segments of that node only.

The receipts cover a segment when all that are about it name all its batches. Without one, no
segment is covered. If tables are deleted, their receipt has to be deleted too.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from wireloom.capture.private import write_whole
from wireloom.capture.reader import batch_count
from wireloom.capture.segment import Segment, segments
from wireloom.remote import AnyPath, UnreachableError

SUFFIX: Final = ".taken"


class Receipt(msgspec.Struct, frozen=True):
    """What one pipeline has stored."""

    tables: str
    batches: dict[str, int]
    node: str = ""
    """Whose segments it is about; empty: those of all nodes."""

    def concerns(self, segment: Segment) -> bool:
        """Whether it is about a segment."""
        return self.node in {"", segment.node}


_decode: Final = msgspec.json.Decoder(Receipt).decode


def put_receipt(
    folder: AnyPath, tables: str, batches: Mapping[str, int], *, node: str = ""
) -> None:
    """Notes how many batches of each segment are stored below a root of tables.

    Args:
        folder: The folder with the segments.
        tables: The root, or where segments are shipped to.
        batches: How many, by segment.
        node: Whose segments it is about; empty: those of all nodes.

    Raises:
        OSError: If it cannot be written.
    """
    there = {segment.name for segment in segments(folder)}
    kept = {name: count for name, count in batches.items() if name in there}
    receipt = Receipt(_root(tables), kept, node)
    write_whole(_path(folder, tables, node), msgspec.json.encode(receipt))


def take_receipt(folder: AnyPath, tables: str, *, node: str = "") -> dict[str, int] | None:
    """How many batches of each segment a pipeline has stored; None if it has no receipt."""
    found = _read(_path(folder, tables, node))
    return None if found is None else found.batches


def keep_receipt(folder: AnyPath, tables: str, *, node: str) -> None:
    """Deletes the receipts of a node for other places than the one it ships to now, if it does.

    Raises:
        OSError: If the folder cannot be read, or one not be deleted.
    """
    kept = _path(folder, tables, node)
    for path in _listed(folder):
        found = _read(path)
        if found is not None and found.node == node and path != kept:
            path.unlink(missing_ok=True)


class Receipts:
    """The receipts of all pipelines, as of now.

    Args:
        folder: The folder with the segments.

    Raises:
        OSError: If it cannot be read.
    """

    def __init__(self, folder: AnyPath) -> None:
        self._receipts = {path: _read(path) for path in _listed(folder)}

    def cover(self, segment: Segment) -> bool:
        """Whether all that are about a segment name all of it, and there is one."""
        return bool(self._about(segment)) and not self.lacking(segment)

    def lacking(self, segment: Segment) -> list[str]:
        """The roots of tables that do not have all of a segment; a damaged receipt by its file."""
        count = batch_count(segment)
        return [
            str(path) if one is None else one.tables
            for path, one in self._about(segment).items()
            if one is None or one.batches.get(segment.name, 0) < count
        ]

    def _about(self, segment: Segment) -> dict[AnyPath, Receipt | None]:
        return {
            path: one
            for path, one in self._receipts.items()
            if one is None or one.concerns(segment)
        }


def _listed(folder: AnyPath) -> list[AnyPath]:
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIX))
    except FileNotFoundError:
        return []


def _read(path: AnyPath) -> Receipt | None:
    """A receipt; None if it is missing or damaged, which counts as nothing stored.

    Raises:
        UnreachableError: If the store does not answer.
    """
    try:
        return _decode(path.read_bytes())
    except UnreachableError:
        raise
    except (OSError, ValueError):
        return None


def _path(folder: AnyPath, tables: str, node: str) -> AnyPath:
    name = f"{node} {_root(tables)}" if node else _root(tables)
    return folder / (sha256(name.encode()).hexdigest()[:16] + SUFFIX)


def _root(tables: str) -> str:
    """The absolute name of a root."""
    return tables if "://" in tables else str(Path(tables).resolve())
