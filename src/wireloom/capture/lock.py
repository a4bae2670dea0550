"""The lock that keeps a second writer of the same node out."""

import fcntl
from pathlib import Path
from typing import Final

from wireloom.capture.segment import LOCK, quoted

_ONLY_WE: Final = fcntl.LOCK_EX | fcntl.LOCK_NB


class NodeLockedError(OSError):
    """Another writer has the frames of this node in this folder."""


class NodeLock:
    """Held from creation to `release`, or to the end of the process, however it ends.

    The lock's file stays: removing it would let two writers lock two files of one name.

    Args:
        folder: Where the node's segments lie.
        node: Whose they are.

    Raises:
        NodeLockedError: If another writer holds it.
        OSError: If the lock's file cannot be written.
    """

    def __init__(self, folder: Path, node: str) -> None:
        self._file = (folder / (quoted(node) + LOCK)).open("ab")
        try:
            fcntl.flock(self._file, _ONLY_WE)
        except BlockingIOError:
            self._file.close()
            raise NodeLockedError(
                f"another process is writing frames of {node} to {folder}"
            ) from None

    def release(self) -> None:
        """Lets the next writer in."""
        self._file.close()
