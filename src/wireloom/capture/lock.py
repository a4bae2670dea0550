"""The lock against a second writer of the same node, the last number used, and whose log it is.

The lock's file outlives all segments of its node. It holds the next sequence number, so that a
number is used once even if every segment has been deleted, and the log's identity:

```
next sequence, 19 digits | space | CRC-32 of the digits, 8 hex digits | line end
identity, 32 hex digits  | space | CRC-32 of the digits, 8 hex digits | line end
```
"""

import fcntl
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final

from wireloom.capture.identity import PACKED_SIZE, put_identity, take_identity
from wireloom.capture.private import opener
from wireloom.capture.segment import LOCK, quoted

_ONLY_WE: Final = fcntl.LOCK_EX | fcntl.LOCK_NB
_NOTE_SIZE: Final = 29


class NodeLockedError(OSError):
    """Another writer holds this node and folder."""


class NodeLock:
    """Held from creation to `release`, or to the end of the process, however it ends.

    The lock's file stays: removing it would let two writers lock two files of one name.

    Args:
        folder: Where the node's segments lie.
        node: Whose they are.

    Raises:
        NodeLockedError: If another writer holds it.
        LinkRefusedError: If a symbolic link lies there.
        OSError: If the lock's file cannot be written.
    """

    def __init__(self, folder: Path, node: str) -> None:
        self._handle = opener(folder / (quoted(node) + LOCK), os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._handle, _ONLY_WE)
        except BlockingIOError:
            os.close(self._handle)
            raise NodeLockedError(
                f"another process is writing frames of {node} to {folder}"
            ) from None

    def noted(self) -> int | None:
        """The number that was noted last; None if there is none, or it is damaged."""
        line = os.pread(self._handle, _NOTE_SIZE, 0)
        digits = line[:19]
        return int(digits) if digits.isdigit() and line == _note(int(digits)) else None

    def note(self, next_sequence: int) -> None:
        """Notes which number comes next.

        A failure to write is ignored: the number can be found in the segments too, and frames that
        are on disk must not be written again.
        """
        with suppress(OSError):
            os.pwrite(self._handle, _note(next_sequence), 0)

    def identity(self) -> str | None:
        """The log's identity; None if none is written down, or it is damaged."""
        return take_identity(os.pread(self._handle, PACKED_SIZE, _NOTE_SIZE))

    def identify(self, identity: str) -> None:
        """Writes the log's identity down.

        A failure to write is ignored: each segment says it too.
        """
        with suppress(OSError):
            os.pwrite(self._handle, put_identity(identity) + b"\n", _NOTE_SIZE)

    def release(self) -> None:
        """Releases the lock."""
        os.close(self._handle)


def _note(next_sequence: int) -> bytes:
    digits = b"%019d" % next_sequence
    return b"%s %08x\n" % (digits, zlib.crc32(digits))
