"""The Spark data source `wireloom`: capture segments, decoded, batch and stream.

A partition is a run of batches of one segment. Bytes are decoded in `read` and cross from
Python to the JVM once, as Arrow.

Options:
    path: The folder with the segments.
    maxRows: Rows a micro-batch takes at the most (stream).
    partitions: How many partitions a read is split into at the most.

What cannot be read is left out: `pipeline status` names it (`passed_over`).

A stream's offset says how many batches of each segment have been read. Segments may come in
any order; one that appears late is read late, and nothing is read twice.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from wireloom.capture.claims import clashes
from wireloom.capture.reader import NO_BATCH, Damage, known_sums, read_segment
from wireloom.capture.segment import OPEN, SEALED, Segment, segments
from wireloom.pipeline.decoding import decode_batch, schema
from wireloom.remote import AnyPath, any_path

DEFAULT_MAX_ROWS: Final = 500_000
DEFAULT_PARTITIONS: Final = 2
SHARE_ROWS: Final = 20_000
"""The least rows of a share. Small batches are decoded together up to this number of rows."""

Offset = dict[str, int]


class Run(NamedTuple):
    """Batches of a segment that follow each other."""

    segment: Segment
    first: int
    last: int
    """The first one after them."""

    rows: int


class SkippedFile(NamedTuple):
    """A file whose frames are not read."""

    name: str
    detail: str


class Slice(InputPartition):
    """Some batches of some segments."""

    def __init__(self, runs: list[tuple[Segment, int, int]]) -> None:
        super().__init__(None)
        self.runs = runs


class WireloomSource(DataSource):
    """`spark.read.format("wireloom").load(folder)`."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "wireloom"

    def schema(self) -> StructType:
        """The columns of a decoded frame."""
        self._folder()  # a missing folder is reported at load, not at the first read
        return from_arrow_schema(schema())

    def reader(self, schema: StructType) -> "WireloomReader":  # noqa: ARG002
        """Reads the segments that exist now."""
        return WireloomReader(self._folder(), self._partitions())

    def streamReader(self, schema: StructType) -> "WireloomStream":  # noqa: ARG002, N802
        """Reads the segments that exist, and what is added later."""
        limit = self._number("maxRows", DEFAULT_MAX_ROWS)
        return WireloomStream(self._folder(), self._partitions(), limit)

    def _folder(self) -> AnyPath:
        path = self.options.get("path")
        if path is None:
            refuse('say where the segments are: .load("folder")')
        folder = any_path(path)
        if not folder.is_dir():
            refuse(f"there is no folder {path}: load the one with the segments, such as captures")
        return folder

    def _partitions(self) -> int:
        return self._number("partitions", DEFAULT_PARTITIONS)

    def _number(self, name: str, default: int) -> int:
        text = self.options.get(name, str(default))
        if not text.isascii() or not text.isdigit() or int(text) == 0:
            refuse(f"the option {name} is a whole number from 1 on, not {text!r:.40}")
        return int(text)


def refuse(text: str) -> NoReturn:
    """Fails with a message of one sentence.

    Spark would show the traceback of the worker before it; a setting in the environment hides it.
    """
    os.environ["SPARK_HIDE_TRACEBACK"] = "1"
    raise ValueError(text)


class WireloomReader(DataSourceReader):
    """Reads a folder once."""

    def __init__(self, folder: AnyPath, partitions: int) -> None:
        self._folder = folder
        self._partitions = partitions

    def partitions(self) -> Sequence[InputPartition]:
        """The batches that are there, shared out evenly by rows."""
        return share(runs(self._folder, {}, available(self._folder)), self._partitions)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one share."""
        return read_slice(partition)


class WireloomStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a folder as it grows."""

    def __init__(self, folder: AnyPath, partitions: int, max_rows: int) -> None:
        self._folder = folder
        self._partitions = partitions
        self._max_rows = max_rows
        self._target: Offset | None = None

    def initialOffset(self) -> Offset:  # noqa: N802
        """Nothing read yet."""
        return {}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """As the option says."""
        return ReadMaxRows(self._max_rows)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """What is there now is all that this query reads."""
        self._target = available(self._folder)

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        """How far the next micro-batch goes."""
        end = self._target if self._target is not None else available(self._folder)
        most = None if isinstance(limit, ReadAllAvailable) else self._max_rows
        return advance(self._folder, start, end, most)

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The batches between two offsets, shared out evenly by rows."""
        return self.shares(start, end)

    def shares(self, start: Offset, end: Offset) -> list[Slice]:
        """The same, with their own type."""
        return share(runs(self._folder, start, end), self._partitions)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one share."""
        return read_slice(partition)


def available(folder: AnyPath) -> Offset:
    """How many batches each segment has now.

    Left out are segments that cannot be opened, and those of another log under a node's name.
    """
    found = list(segments(folder))
    strange = {clash.segment for clash in clashes(folder, found)}
    return {
        segment.name: len(known_sums(segment))
        for segment in found
        if segment not in strange and _opens(segment)
    }


def _opens(segment: Segment) -> bool:
    """Whether a segment may be read; it may have been sealed since it was listed."""
    either = (segment.path, segment._replace(sealed=True).path)
    return any(not isinstance(path, Path) or os.access(path, os.R_OK) for path in either)


def passed_over(folder: AnyPath, taken: Offset) -> list[SkippedFile]:
    """Files in a folder of captures that are not read; damaged batches are not listed here.

    Args:
        folder: The captures.
        taken: How many batches of each segment have been read.
    """
    known = list(segments(folder))
    names = {segment.path.name for segment in known}
    found = [
        SkippedFile(name, "it is not named like a segment")
        for name in sorted(path.name for path in folder.iterdir())
        if name.endswith((SEALED, OPEN)) and name not in names
    ]
    found += [SkippedFile(one.segment.path.name, one.detail) for one in clashes(folder, known)]
    for segment in known:
        count, before = len(known_sums(segment)), taken.get(segment.name, 0)
        if count < before:
            detail = f"a segment of this name with {before} batches was read, this one has {count}"
            found.append(SkippedFile(segment.path.name, detail))
    return found


def advance(folder: AnyPath, start: Offset, end: Offset, most: int | None) -> Offset:
    """`start`, moved towards `end` by at most `most` rows but by at least one batch."""
    reached = {name: count for name, count in start.items() if count}
    rows = 0
    for segment in segments(folder):
        sums = known_sums(segment)
        for index in range(start.get(segment.name, 0), min(end.get(segment.name, 0), len(sums))):
            if most is not None and rows and rows + sums[index].rows > most:
                return dict(sorted(reached.items()))
            rows += sums[index].rows
            reached[segment.name] = index + 1
    return dict(sorted(reached.items()))


def runs(folder: AnyPath, start: Offset, end: Offset) -> list[Run]:
    """Each batch between two offsets."""
    found: list[Run] = []
    for segment in segments(folder):
        sums = known_sums(segment)
        unread = range(start.get(segment.name, 0), min(end.get(segment.name, 0), len(sums)))
        found += [Run(segment, index, index + 1, sums[index].rows) for index in unread]
    return found


def share(batches: Sequence[Run], count: int) -> list[Slice]:
    """Batches in at most `count` slices of about the same number of rows."""
    total = sum(rows for *_, rows in batches)
    count = min(count, max(1, -(-total // SHARE_ROWS)))
    slices: list[list[tuple[Segment, int, int]]] = [[] for _ in range(count)]
    seen = 0
    for segment, first, last, rows in batches:
        slices[min(count - 1, seen * count // max(1, total))].append((segment, first, last))
        seen += rows
    return [Slice(_joined(one)) for one in slices if one]


def _joined(runs: list[tuple[Segment, int, int]]) -> list[tuple[Segment, int, int]]:
    """Runs that follow each other as one: a segment is opened once for all of them."""
    found: list[tuple[Segment, int, int]] = []
    for segment, first, last in runs:
        if found and found[-1][0] == segment and found[-1][2] == first:
            found[-1] = (segment, found[-1][1], last)
        else:
            found.append((segment, first, last))
    return found


def read_slice(partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """The decoded rows of a slice; damaged batches are left out (`pipeline status` names them).

    Raises:
        OSError: If a file cannot be read: then nothing of the slice counts as read.
    """
    if not isinstance(partition, Slice):
        raise TypeError(partition)
    few: list[pa.RecordBatch] = []
    for segment, first, last in partition.runs:
        for batch in read_segment(segment, start=first, stop=last):
            if isinstance(batch, Damage):
                if batch.batch == NO_BATCH and batch.rows:
                    raise OSError(f"{segment.path} {batch.detail}")
            elif batch.num_rows:
                few.append(batch)
            if sum(one.num_rows for one in few) >= SHARE_ROWS:
                yield decode_batch(pa.concat_batches(few))
                few = []
    if few:
        yield decode_batch(pa.concat_batches(few))
