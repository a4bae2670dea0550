"""Segments on disk: names, places, and the checksums beside them.

A segment is a plain Arrow IPC stream that any Arrow reader opens. Beside it lies a file of
checksums, 16 bytes a batch, little-endian:

```
end 8 | checksum 4 | rows 4        end: where the batch's message ends in the segment
                                   checksum: CRC-32 of the message, then of end and rows
```

In a segment that is being written, a batch counts when its checksum is on disk; what lies
beyond is a torn tail.

```
captures/<node>-<first sequence>.arrow        sealed, never changed again
captures/<node>-<first sequence>.arrow.open   being written
captures/<node>-<first sequence>.sums         checksums of either
captures/<node>.lock                          held by the node's one writer
```

The folder is a local one, or one on object storage; there, all segments are sealed.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from wireloom.remote import AnyPath, UnreachableError

SEALED: Final = ".arrow"
OPEN: Final = ".arrow.open"
SUMS: Final = ".sums"
LOCK: Final = ".lock"

MAX_NODE_SIZE: Final = 200
"""File names have at most 255 bytes on most systems; sequence and ending need the rest."""

_NAME: Final = re.compile(
    r"(?P<node>[\w.~%-]+)-(?P<first>\d{16})(?P<kind>\.arrow(?:\.open)?)", re.A
)
_SUM: Final = struct.Struct("<QII")
_PLACE: Final = struct.Struct("<QI")
SUM_SIZE: Final = _SUM.size


class Sum(NamedTuple):
    """The checksum of one batch, its end and its rows."""

    end: int
    checksum: int
    rows: int

    def holds(self, message: bytes | memoryview) -> bool:
        """Whether `message` is the batch that was written."""
        return self == sum_of(message, end=self.end, rows=self.rows)


class Segment(NamedTuple):
    """One segment of one node."""

    folder: AnyPath
    node: str
    first_sequence: int
    sealed: bool

    @property
    def name(self) -> str:
        """The name, whether it is open or sealed."""
        return f"{quoted(self.node)}-{self.first_sequence:016d}"

    @property
    def path(self) -> AnyPath:
        """The Arrow file."""
        return self.folder / (self.name + (SEALED if self.sealed else OPEN))

    @property
    def sums_path(self) -> AnyPath:
        """The checksums."""
        return self.folder / (self.name + SUMS)

    def sums(self) -> list[Sum]:
        """The checksums on disk; none if there is no such file or it cannot be read.

        Raises:
            UnreachableError: If the store does not answer, which says nothing about them.
        """
        try:
            raw = self.sums_path.read_bytes()
        except UnreachableError:
            raise
        except OSError:
            return []
        return take_sums(raw)


def quoted(node: str) -> str:
    """A node's name as it stands in file names.

    Raises:
        ValueError: If it is empty, too long, or not Unicode.
    """
    name = quote(node, safe="")
    if not 0 < len(name) <= MAX_NODE_SIZE:
        raise ValueError(f"{node!r:.60} is no name of a node: 1 to {MAX_NODE_SIZE} bytes, quoted")
    return name


def sum_of(message: bytes | memoryview, *, end: int, rows: int) -> Sum:
    """The checksum of a batch whose message ends at `end`."""
    return Sum(end, zlib.crc32(_PLACE.pack(end, rows), zlib.crc32(message)), rows)


def pack_sum(sum_: Sum) -> bytes:
    """A checksum as it lies on disk."""
    return _SUM.pack(*sum_)


def take_sums(raw: bytes) -> list[Sum]:
    """The checksums in the bytes of their file; an incomplete one at the end does not count."""
    whole = len(raw) - len(raw) % SUM_SIZE
    return [Sum(*fields) for fields in _SUM.iter_unpack(raw[:whole])]


def segments(folder: AnyPath) -> Iterator[Segment]:
    """All segments in a folder, by node and sequence; other files are passed over.

    Raises:
        OSError: If the folder is there and cannot be read.
    """
    try:
        found: list[AnyPath] = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return
    for path in found:
        segment = _named(path)
        if segment is not None and segment.path == path:
            yield segment


def _named(path: AnyPath) -> Segment | None:
    match = _NAME.fullmatch(path.name)
    if match is None:
        return None
    node, kind = unquote(match["node"]), match["kind"]
    return Segment(path.parent, node, int(match["first"]), sealed=kind == SEALED)
