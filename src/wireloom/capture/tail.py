"""The end of a node's log: the segment being written, and what a crash left of one.

A batch is written in two steps, each synced: its bytes, then its checksum. A failure or a
crash in between leaves bytes beyond the last checksum, and those are cut off before
anything else is written or the segment is sealed.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Final, cast

import pyarrow as pa

from wireloom.capture.private import opener, refusal
from wireloom.capture.reader import MAX_MESSAGE_SIZE, known_sums, read_segment
from wireloom.capture.repair import repaired
from wireloom.capture.segment import SUM_SIZE, Segment, Sum, pack_sum, sum_of
from wireloom.capture.stream import (
    END,
    pays_to_compress,
    put_batch,
    put_head,
    take_head,
    walk,
)
from wireloom.remote import local

SYNCED_SIZE: Final = 2 * 1024 * 1024
"""Bytes per sync. Other processes that sync to the same disk wait for it."""


class OpenSegment:
    """A segment being written: the Arrow file and its checksums.

    Args:
        segment: Its name, which no other segment has.
        begun_at: When it was begun.
        identity: That of its log.

    Raises:
        OSError: If the disk does not take it; nothing is left behind.
    """

    def __init__(self, segment: Segment, begun_at: float, *, identity: str) -> None:
        self.segment = segment
        self.begun_at = begun_at
        head = put_head(identity)
        self.size = len(head)
        self.batch_count = 0
        self.torn = False
        """Whether there may be bytes beyond the last batch; `mend` cuts them off."""
        self._is_compressed: bool | None = None
        """The first batch decides for all."""
        # Checksums come first, so that a segment without them was not left by a crash.
        self._sums: BinaryIO = _opened(local(segment.sums_path), "wb")
        self._file: BinaryIO = self._sums
        try:
            self._file = _opened(local(segment.path), "wb")
            _write_synced(self._file, head)
            _sync_folder(local(segment.folder))
        except OSError:
            self.discard()
            raise

    def write(self, batch: pa.RecordBatch) -> None:
        """Writes a batch and returns when it is on disk.

        Raises:
            OSError: If the disk does not take it; the segment is then torn.
        """
        if self._is_compressed is None:
            self._is_compressed = pays_to_compress(batch)
        message = put_batch(batch, is_compressed=self._is_compressed)
        end = self.size + len(message)
        self.torn = True
        _write_synced(self._file, message)
        _write_synced(self._sums, pack_sum(sum_of(message, end=end, rows=batch.num_rows)))
        self.torn = False
        self.size = end
        self.batch_count += 1

    def mend(self) -> None:
        """Cuts off what lies beyond the last batch.

        Raises:
            OSError: If that fails; the segment stays torn.
        """
        _cut(self._sums, self.batch_count * SUM_SIZE)
        _cut(self._file, self.size)
        self.torn = False

    def seal(self) -> None:
        """Ends the stream and gives the segment its lasting name.

        Raises:
            OSError: If the disk does not take it; unless it is sealed already, it is torn.
        """
        self.torn = True
        _write_synced(self._file, END)
        self.segment = _rename(self.segment)
        self.close()
        _sync_folder(local(self.segment.folder))

    def discard(self) -> None:
        """Removes a segment without batches."""
        self.close()
        self.segment.path.unlink(missing_ok=True)
        self.segment.sums_path.unlink(missing_ok=True)

    def close(self) -> None:
        """Closes the files; the segment stays unsealed for `recover`."""
        self._file.close()
        self._sums.close()


def recover(left: Iterable[Segment]) -> int | None:
    """Seals what a crash left open, and gives the number after the last one that was used.

    Args:
        left: The segments of one node, by sequence.

    Returns:
        None if there are no segments.

    Raises:
        OSError: If the disk does not take it.
    """
    following = None
    for segment in left:
        sealed = segment if segment.sealed else _seal_left(segment)
        reached = segment.first_sequence if sealed is None else next_sequence(sealed)
        following = max(following or 0, reached)
    return following


def _seal_left(segment: Segment) -> Segment | None:
    path, sums_path = local(segment.path), local(segment.sums_path)
    if path.is_symlink():
        raise refusal(path)
    sums = segment.sums()
    if not sums_path.exists():  # deleted by hand: keep what can be read
        sums = walk(path)
        _opened(sums_path, "wb").close()
    if not sums:
        path.unlink()
        sums_path.unlink(missing_ok=True)
        return None
    with _opened(path, "r+b") as file, _opened(sums_path, "r+b") as sums_file:
        sums = _repair(file, sums_file, sums)
        _end(file, sums)
    sealed = _rename(segment)
    _sync_folder(path.parent)
    return sealed


def _repair(file: BinaryIO, sums_file: BinaryIO, sums: list[Sum]) -> list[Sum]:
    """Corrects the checksums that a batch proves to be damaged; cuts off an incomplete one."""
    right = repaired(file, take_head(file).size, sums)
    _cut(sums_file, 0)
    _write_synced(sums_file, b"".join(map(pack_sum, right)))
    return right


def _end(file: BinaryIO, sums: list[Sum]) -> None:
    """Ends the stream, after its last batch if that is where its checksum says.

    Otherwise nothing is cut off: the batch may be good, and readers go by the checksums.
    """
    file.seek(0)
    begin = sums[-2].end if len(sums) > 1 else take_head(file).size
    size = os.fstat(file.fileno()).st_size
    last = sums[-1]
    is_there = begin < last.end <= size and last.end - begin <= MAX_MESSAGE_SIZE
    if is_there and last.holds(os.pread(file.fileno(), last.end - begin, begin)):
        _cut(file, last.end)
    file.seek(0, os.SEEK_END)
    _write_synced(file, END)


def next_sequence(segment: Segment) -> int:
    """A number that no frame of the segment has, even if checksums or batches are damaged."""
    sums = known_sums(segment)
    counted = segment.first_sequence + max(1, sum(sum_.rows for sum_ in sums))
    for index in reversed(range(len(sums))):
        for batch in read_segment(segment, start=index, stop=index + 1):
            if isinstance(batch, pa.RecordBatch) and batch.num_rows:
                return max(counted, int(batch.column(0)[-1].as_py()) + 1)
    return counted


def _rename(segment: Segment) -> Segment:
    sealed = segment._replace(sealed=True)
    path = local(sealed.path)
    if path.exists():
        raise FileExistsError(f"{path} is there already, and a sealed segment never changes")
    local(segment.path).rename(path)
    return sealed


def _opened(path: Path, mode: str) -> BinaryIO:
    return cast("BinaryIO", open(path, mode, buffering=0, opener=opener))


def _cut(file: BinaryIO, size: int) -> None:
    file.truncate(size)
    file.seek(size)
    os.fdatasync(file.fileno())


def _write_synced(file: BinaryIO, data: bytes | memoryview) -> None:
    view = memoryview(data)
    while True:
        view = view[file.write(view[:SYNCED_SIZE]) :]
        os.fdatasync(file.fileno())
        if not view:
            return


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
