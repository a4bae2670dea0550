"""One pipeline at a time works on the tables below a root.

Two would do each other's work, and one of them would fail at its commits. On a local root the
second is told so at once. On object storage nobody can hold a lock and be killed safely: there the
log of each table refuses the second one's commit.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from wireloom.pipeline.store import TableStore

_LOCK: Final = "_pipeline.lock"


class BusyError(RuntimeError):
    """Another pipeline works on the tables; the text says which."""


@contextmanager
def alone(store: TableStore) -> Iterator[None]:
    """While it is held, no other pipeline works on these tables.

    Raises:
        BusyError: If one does.
    """
    if store.files.is_remote:
        yield
        return
    folder = Path(store.root)
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        _lock(handle, store.root)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, root: str) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
        raise BusyError(
            f"another pipeline (process {holder}) works on the tables in {root}: "
            "wait until it ends, or stop it"
        ) from None
    os.ftruncate(handle, 0)
    os.pwrite(handle, str(os.getpid()).encode(), 0)
