"""What sessions keep across a crash: one SQLite file, one thread that writes it.

Records are collected while a commit runs, and go to disk together in the next one. `put` and
`forget` give a ticket; what depends on a record waits until `synced` has told that ticket.
"""

import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Final, Protocol

from wireloom.capture.private import (
    FILE_MODE,
    LinkRefusedError,
    make_folder,
    opener,
    refusal,
)
from wireloom.live.salvage import is_sound, put_aside, salvage
from wireloom.performing.world import Records
from wireloom.wire.session import Store

VERSION: Final = 1
_CREATE: Final = """
CREATE TABLE IF NOT EXISTS records (
    number INTEGER PRIMARY KEY,
    protocol TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
    UNIQUE (protocol, kind, key)
)
"""
_PUT: Final = "INSERT INTO records (protocol, kind, key, value) VALUES "
_REPLACE: Final = " ON CONFLICT (protocol, kind, key) DO UPDATE SET value = excluded.value"
_FORGET: Final = "WITH gone (protocol, kind, key) AS (VALUES "
_GONE: Final = (
    ") DELETE FROM records WHERE number IN"
    " (SELECT number FROM gone CROSS JOIN records USING (protocol, kind, key))"
)
"""CROSS JOIN: each is looked up, instead of all being looked through."""

_CHUNKS: Final = (256, 32, 4, 1)
"""Rows a statement: the thread gives the interpreter up once a statement, and getting it back
from a busy loop takes long."""

MAX_WAITING: Final = 65_536
MAX_WAITING_BYTES: Final = 128 * 1024 * 1024
"""With more records waiting for a commit, the node takes nothing in."""

_log: Final = logging.getLogger(__name__)

Key = tuple[str, str, str]
"""Protocol, kind, key."""

Batch = dict[Key, bytes | None]
"""Records to be written, None for those to be forgotten."""


class StoreError(Exception):
    """The store cannot be used; the text says why."""


class Keeping(Records, Protocol):
    """Where a driver keeps the records of its session."""

    def load(self, protocol: str, /) -> Iterable[Store]:
        """What an earlier life stored."""
        ...

    def commit(self) -> None:
        """Has what was put written, if it is enough."""
        ...


class RecordStore:
    """The records of all sessions of one node.

    Args:
        path: The file; made if it is missing.

    Raises:
        StoreError: If it cannot be opened, or another process has it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.unreadable = 0
        """Records that are damaged, and gaps where records were."""

        self._connection = self._sound(_opened(path))
        self._collecting: Batch = {}
        self._collecting_bytes = 0
        self._is_overloaded = False
        self._ticket = 1
        self._is_writing = False
        self._jobs: SimpleQueue[tuple[int, Batch] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._began_at = 0.0
        self._error: StoreError | None = None
        self.sync_seconds: Callable[[float], None] = lambda _: None
        """Told how long each record's batch took from its first record to the disk."""

    def load(self, protocol: str) -> Iterator[Store]:
        """The records of one protocol in the order in which they came; before `start` only.

        Raises:
            StoreError: If the file is damaged.
        """
        statement = "SELECT kind, key, value FROM records WHERE protocol = ? ORDER BY number"
        try:
            for kind, key, value in self._connection.execute(statement, (protocol,)):
                if _is_record(kind, key, value):
                    yield Store(kind, key, value)
                else:
                    self._count_unreadable()
        except sqlite3.Error as error:
            raise StoreError(f"{self._path} cannot be read: {error}") from None

    def _count_unreadable(self) -> None:
        if not self.unreadable:
            _log.error("records of %s cannot be read; they stay where they are", self._path)
        self.unreadable += 1

    def start(
        self,
        *,
        synced: Callable[[int], None],
        failed: Callable[[StoreError], None],
        call: Callable[..., object],
        overloaded: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """Begins to write.

        Args:
            synced: Told each ticket whose records are on disk.
            failed: Told once that nothing more gets to disk.
            call: Runs a function with its arguments where `put` is called (the loop's
                `call_soon_threadsafe`).
            overloaded: Told when too much waits, and when little enough does again.
        """
        self._synced = synced
        self._failed = failed
        self._call = call
        self._overloaded = overloaded
        self._thread = Thread(target=self._write_all, name="store", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many records wait for the next commit."""
        return len(self._collecting)

    def put(self, key: Key, value: bytes | None) -> int:
        """Takes a record, or `None` to forget it; gives its ticket."""
        self._collecting[key] = value
        self._collecting_bytes += len(value or b"")
        return self._ticket

    def commit(self) -> None:
        """Sends what was collected to disk, unless a commit runs: then it follows that."""
        if self._collecting and not self._is_writing:
            self._is_writing = True
            self._began_at = perf_counter()
            self._jobs.put((self._ticket, self._collecting))
            self._collecting = {}
            self._collecting_bytes = 0
            self._ticket += 1
        self._weigh()

    def close(self) -> None:
        """Writes what is left and lets go of the file.

        Raises:
            StoreError: If not all records got to disk.
        """
        if self._thread is not None:
            if self._collecting:
                self._jobs.put((self._ticket, self._collecting))
            self._jobs.put(None)
            self._thread.join()
        with suppress(sqlite3.Error):
            self._connection.close()
        if self._error is not None:
            raise self._error

    def _sound(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """The store, or what can be read of it in a new one.

        Raises:
            StoreError: If there is no room for a new one.
        """
        if is_sound(connection):
            return connection
        new = self._path.with_name(f"{self._path.name}.new")
        try:
            new.unlink(missing_ok=True)
            made = _opened(new)
            count, self.unreadable = salvage(connection, made)
            made.close()
            with suppress(sqlite3.Error):
                connection.close()
            kept = put_aside(self._path)
            new.rename(self._path)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{self._path} is damaged and cannot be saved: {error}") from None
        said = (
            "%s was damaged: %d records were taken over, %d parts cannot be read; it is kept as %s"
        )
        _log.error(said, self._path, count, self.unreadable, kept)
        return _opened(self._path)

    def _weigh(self) -> None:
        is_much = len(self._collecting) > MAX_WAITING or self._collecting_bytes > MAX_WAITING_BYTES
        if is_much != self._is_overloaded:
            self._is_overloaded = is_much
            self._overloaded(is_much)

    def _write_all(self) -> None:
        while (job := self._jobs.get()) is not None:
            ticket, batch = job
            try:
                _write(self._connection, batch)
            except sqlite3.Error as error:
                self._error = StoreError(f"{self._path} cannot be written: {error}")
                self._tell(self._failed, self._error)
                return
            self._tell(self._written, ticket)

    def _tell(self, function: Callable[..., None], argument: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._call(function, argument)

    def _written(self, ticket: int) -> None:
        self._is_writing = False
        self.sync_seconds(perf_counter() - self._began_at)
        self.commit()
        self._synced(ticket)


def _opened(path: Path) -> sqlite3.Connection:
    try:
        make_folder(path.parent)
        _claim(path)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)
        connection.text_factory = _text
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise StoreError(f"{path} was written by a newer version")
        connection.execute(_CREATE)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise StoreError(f"another process is using {path}") from None
        raise StoreError(f"{path} cannot be opened: {error}") from None
    except LinkRefusedError as error:
        raise StoreError(f"{error.strerror}") from None
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{path} cannot be opened: {error}") from None
    return connection


def _is_record(kind: object, key: object, value: object) -> bool:
    """Whether SQLite gave what was put in: damage may change the type of a value."""
    return isinstance(kind, str) and isinstance(key, str) and isinstance(value, bytes)


def _text(raw: bytes) -> str | bytes:
    """A text, or the bytes of what is none."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _claim(path: Path) -> None:
    """Makes the file, or makes it the owner's alone; SQLite's others beside it follow it.

    Raises:
        LinkRefusedError: If one of them is a symbolic link, which SQLite would follow.
        OSError: If it cannot be made.
    """
    os.close(opener(path, os.O_RDWR | os.O_CREAT))
    for beside in (Path(f"{path}{ending}") for ending in ("-wal", "-shm", "-journal")):
        if beside.is_symlink():
            raise refusal(beside)
        if beside.exists():
            beside.chmod(FILE_MODE)


def _write(connection: sqlite3.Connection, batch: Batch) -> None:
    kept: list[object] = []
    forgotten: list[object] = []
    for key, value in batch.items():
        if value is None:
            forgotten.extend(key)
        else:
            kept.extend((*key, value))
    connection.execute("BEGIN IMMEDIATE")
    _execute(connection, _FORGET, forgotten, width=3, end=_GONE)
    _execute(connection, _PUT, kept, width=4, end=_REPLACE)
    connection.execute("COMMIT")


def _execute(
    connection: sqlite3.Connection,
    statement: str,
    values: list[object],
    *,
    width: int,
    end: str,
) -> None:
    done = 0
    row = "(" + ",".join("?" * width) + ")"
    for rows in _CHUNKS:
        step = rows * width
        while len(values) - done >= step:
            places = ",".join([row] * rows)
            connection.execute(statement + places + end, values[done : done + step])
            done += step
