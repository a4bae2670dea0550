"""Reading the log: from any batch on, stopping at a torn tail, going on after damage.

A batch whose bytes do not match their checksum is reported as `Damage` with its place, and
reading goes on with the next batch: one flipped bit costs one batch. Batches of a sealed
segment that have no checksum (its file is missing or too short) are read as they lie.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import pyarrow as pa

from wireloom.capture.segment import Segment, Sum, segments
from wireloom.capture.stream import END, take_batch, take_head, walk

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
    """How many batches there are: in an open segment, how many are completely written."""
    return len(known_sums(segment))


def known_sums(segment: Segment) -> list[Sum]:
    """The checksums of all batches; those that are missing are made from what lies there."""
    sums = segment.sums()
    if not segment.sealed:
        return sums
    end = sums[-1].end if sums else 0
    try:
        size = segment.path.stat().st_size
        if end + len(END) < size:
            found = walk(segment.path)
            sums += found[len(sums) :]
    except OSError:
        pass  # whoever reads the batches hears of it
    return sums


def read_segment(
    segment: Segment, *, start: int = 0, stop: int | None = None
) -> Iterator[pa.RecordBatch | Damage]:
    """The batches of a segment from index `start` up to, not including, `stop`.

    A segment that was open when it was listed, and has been sealed since, is read all the
    same.
    """
    sums = known_sums(segment)[:stop]
    try:
        with _opened(segment) as file:
            begin, fault = take_head(file)
            if fault is not None and start == 0:
                yield Damage(segment, NO_BATCH, 0, begin, 0, fault)
            for index, sum_ in enumerate(sums):
                if index >= start:
                    yield _read_batch(file, segment, index, begin, sum_)
                begin = sum_.end
    except OSError as error:
        rows = sum(sum_.rows for sum_ in sums[start:])
        yield Damage(segment, NO_BATCH, 0, 0, rows, f"cannot be read: {error.strerror}")


def read(folder: Path) -> Iterator[pa.RecordBatch | Damage]:
    """All batches of all segments in a folder.

    Raises:
        OSError: If the folder is there and cannot be read.
    """
    for segment in segments(folder):
        yield from read_segment(segment)


def _opened(segment: Segment) -> BinaryIO:
    try:
        return segment.path.open("rb")
    except FileNotFoundError:
        return segment._replace(sealed=True).path.open("rb")


def _read_batch(
    file: BinaryIO, segment: Segment, index: int, begin: int, sum_: Sum
) -> pa.RecordBatch | Damage:
    size = sum_.end - begin
    if not 0 < size <= os.fstat(file.fileno()).st_size - begin:
        return Damage(segment, index, begin, max(0, size), sum_.rows, "not where it should be")
    # Not mapped into memory: a file that is cut meanwhile would end the process.
    file.seek(begin)
    message = file.read(size)
    if not sum_.holds(message):
        return Damage(segment, index, begin, size, sum_.rows, "the checksum does not match")
    batch = take_batch(message)
    if isinstance(batch, str):
        return Damage(segment, index, begin, size, sum_.rows, batch)
    return batch
