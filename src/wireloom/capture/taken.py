"""What pipelines have stored of the log: each writes a mark beside the segments.

```
captures/<16 hex digits>.taken      one a root of tables; JSON
{"tables": the root, "batches": {segment: how many of its batches are stored}}
```

A segment is taken when every pipeline has all its batches. Without any mark, no segment is taken.
If tables are deleted, their mark has to be deleted too.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from wireloom.capture.private import opener
from wireloom.capture.reader import batch_count
from wireloom.capture.segment import Segment, segments

TAKEN: Final = ".taken"


class Mark(msgspec.Struct, frozen=True):
    """What one pipeline has stored."""

    tables: str
    batches: dict[str, int]


_decode: Final = msgspec.json.Decoder(Mark).decode


def mark(folder: Path, tables: str, batches: Mapping[str, int]) -> None:
    """Notes how many batches of each segment are stored below a root of tables.

    Raises:
        OSError: If it cannot be written.
    """
    path = _path(folder, tables)
    there = {segment.name for segment in segments(folder)}
    kept = {name: count for name, count in batches.items() if name in there}
    made = path.with_suffix(".new")
    with open(made, "wb", opener=opener) as file:
        file.write(msgspec.json.encode(Mark(_root(tables), kept)))
    made.replace(path)


def marked(folder: Path, tables: str) -> dict[str, int] | None:
    """How many batches of each segment a pipeline has stored; None if it has no mark."""
    found = _read(_path(folder, tables))
    return None if found is None else found.batches


class Taken:
    """What all pipelines have taken, as of now."""

    def __init__(self, folder: Path) -> None:
        self._marks = {path: _read(path) for path in sorted(folder.glob(f"*{TAKEN}"))}

    def __contains__(self, segment: Any) -> bool:
        return bool(self._marks) and not self.lacking(segment)

    def lacking(self, segment: Segment) -> list[str]:
        """The roots of tables that do not have all of a segment; a damaged mark by its file."""
        count = batch_count(segment)
        return [
            str(path) if one is None else one.tables
            for path, one in self._marks.items()
            if one is None or one.batches.get(segment.name, 0) < count
        ]


def _read(path: Path) -> Mark | None:
    """A mark; None if it is missing or damaged, which counts as nothing stored."""
    try:
        return _decode(path.read_bytes())
    except (OSError, ValueError):
        return None


def _path(folder: Path, tables: str) -> Path:
    return folder / (sha256(_root(tables).encode()).hexdigest()[:16] + TAKEN)


def _root(tables: str) -> str:
    """The absolute name of a root."""
    return tables if "://" in tables else str(Path(tables).resolve())
