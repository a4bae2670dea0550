"""Reading the log: from any batch on, stopping at a torn tail, going on after damage.

A batch whose bytes do not match their checksum is reported as `Damage` with its place, and
reading goes on with the next batch: one flipped bit costs one batch. One in the file of checksums
costs none: where the batch proves that it is the checksum that is damaged, it is read. Batches of
a sealed segment that have no checksum (its file is missing or too short) are read as they lie.
"""

from collections.abc import Iterator
from threading import Lock
from typing import BinaryIO, Final, NamedTuple

import pyarrow as pa

from wireloom.capture.framing import MAX_BATCH_SIZE, MAX_METADATA_SIZE
from wireloom.capture.repair import repaired
from wireloom.capture.segment import Segment, Sum, pack_sum, segments, take_sums
from wireloom.capture.stream import END, size_of, take_batch, take_head, walk
from wireloom.remote import AnyPath, RemotePath, UnreachableError

MAX_MESSAGE_SIZE: Final = MAX_BATCH_SIZE + MAX_METADATA_SIZE

MAX_KEPT_BYTES: Final = 128 * 1024 * 1024
"""The most checksums of segments on object storage that are kept in memory."""

_ENTRY_SIZE: Final = 500
"""What an entry in memory takes beside them, about."""

NO_BATCH: Final = -1
"""The place of a `Damage` that is not in a batch but in the schema, or in the whole file."""


class Damage(NamedTuple):
    """A batch that cannot be read, or a schema."""

    segment: Segment
    batch: int
    offset: int
    size: int
    rows: int
    """How many frames are lost by it, as far as the checksums tell."""

    detail: str


def batch_count(segment: Segment) -> int:
    """How many batches there are: in an open segment, how many are completely written.

    Raises:
        UnreachableError: If the store does not answer.
    """
    return len(known_sums(segment))


def known_sums(segment: Segment) -> list[Sum]:
    """The checksums of all batches; those that are missing are made from what lies there.

    Those of a segment on object storage are asked for once: what is sealed never changes.

    Raises:
        UnreachableError: If the store does not answer.
    """
    if not (segment.sealed and isinstance(segment.folder, RemotePath)):
        return _found_sums(segment)
    sums = _kept.get(segment)
    if sums is None:
        sums = _found_sums(segment)
        _kept.put(segment, sums)
    return sums


def _found_sums(segment: Segment) -> list[Sum]:
    sums = segment.sums()
    if not segment.sealed:
        return sums
    end = sums[-1].end if sums else 0
    try:
        size = segment.path.stat().st_size
        if end + len(END) < size:
            found = walk(segment.path)
            sums += found[len(sums) :]
    except UnreachableError:
        raise
    except OSError:
        pass  # reading the batches reports it
    return sums


class _Kept:
    """The checksums of sealed segments; of too many, the first ones are forgotten."""

    def __init__(self) -> None:
        self._sums: dict[Segment, bytes] = {}
        self._size = 0
        self._turn = Lock()

    def get(self, segment: Segment) -> list[Sum] | None:
        raw = self._sums.get(segment)
        return None if raw is None else take_sums(raw)

    def put(self, segment: Segment, sums: list[Sum]) -> None:
        raw = b"".join(map(pack_sum, sums))
        with self._turn:
            if raw and segment not in self._sums:
                self._sums[segment] = raw
                self._size += len(raw) + _ENTRY_SIZE
            while self._size > MAX_KEPT_BYTES:
                gone = self._sums.pop(next(iter(self._sums)))
                self._size -= len(gone) + _ENTRY_SIZE


_kept: Final = _Kept()


def read_segment(
    segment: Segment, *, start: int = 0, stop: int | None = None
) -> Iterator[pa.RecordBatch | Damage]:
    """The batches of a segment from index `start` up to, not including, `stop`.

    A segment that was open when it was listed, and has been sealed since, is read all the
    same.

    Raises:
        UnreachableError: If the store does not answer, which says nothing about the batches.
    """
    sums = known_sums(segment)[:stop]
    try:
        with _opened(segment) as file:
            head = take_head(file)
            if head.fault is not None and start == 0:
                yield Damage(segment, NO_BATCH, 0, head.size, 0, head.fault)
            batches = _Batches(file, segment, head.size, sums)
            for index in range(start, len(sums)):
                yield batches.read(index)
    except UnreachableError:
        raise
    except OSError as error:
        rows = sum(sum_.rows for sum_ in sums[start:])
        yield Damage(segment, NO_BATCH, 0, 0, rows, f"cannot be read: {error.strerror}")


def read(folder: AnyPath) -> Iterator[pa.RecordBatch | Damage]:
    """All batches of all segments in a folder.

    Raises:
        OSError: If the folder is there and cannot be read, or the store does not answer.
    """
    for segment in segments(folder):
        yield from read_segment(segment)


def _opened(segment: Segment) -> BinaryIO:
    try:
        return segment.path.open("rb")
    except FileNotFoundError:
        return segment._replace(sealed=True).path.open("rb")


class _Batches:
    """The batches of one open file; if one is not what its checksum says, all are looked at."""

    def __init__(self, file: BinaryIO, segment: Segment, begin: int, sums: list[Sum]) -> None:
        self._file = file
        self._segment = segment
        self._begin = begin
        self._sums = sums
        self._is_repaired = False

    def read(self, index: int) -> pa.RecordBatch | Damage:
        found = self._read(index)
        if isinstance(found, Damage) and not self._is_repaired:
            self._is_repaired = True
            self._sums = repaired(self._file, self._begin, self._sums)
            found = self._read(index)
        return found

    def _read(self, index: int) -> pa.RecordBatch | Damage:
        begin = self._sums[index - 1].end if index else self._begin
        sum_ = self._sums[index]
        size = sum_.end - begin
        place = (self._segment, index, begin, max(0, size), sum_.rows)
        if not 0 < size <= size_of(self._file) - begin:
            return Damage(*place, "not where it should be")
        if size > MAX_MESSAGE_SIZE:
            return Damage(*place, "larger than a batch may be")
        # Not mapped into memory: a file that is cut meanwhile would end the process.
        self._file.seek(begin)
        message = self._file.read(size)
        if not sum_.holds(message):
            return Damage(*place, "the checksum does not match")
        batch = take_batch(message)
        return Damage(*place, batch) if isinstance(batch, str) else batch
