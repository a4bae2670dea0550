"""Writing frames so that what was synced survives a crash.

`append` buffers; `flush` writes the buffer as one batch with its checksum and returns when both
are on disk. A frame may be acknowledged after `flush`. Segments are sealed by size and age with an
atomic rename.

Every failure to write is raised to the caller. The buffer then holds what is not on disk,
and `flush` may be called again when there is room: it goes on with a new segment, and no
frame and no number is lost or doubled.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, time_ns
from types import TracebackType
from typing import Final, Self

import pyarrow as pa

from wireloom.capture.claims import identity_of
from wireloom.capture.frame import SCHEMA, CapturedFrame, to_batch
from wireloom.capture.identity import new_identity
from wireloom.capture.lock import NodeLock
from wireloom.capture.private import make_folder
from wireloom.capture.segment import Segment, segments
from wireloom.capture.tail import OpenSegment, recover

FLUSH_FRAMES: Final = 8_192
"""A full buffer takes no further frame before it is flushed: memory stays bounded."""

FLUSH_BYTES: Final = 8 * 1024 * 1024
FLUSH_SECONDS: Final = 1.0
SEAL_BYTES: Final = 128 * 1024 * 1024
SEAL_SECONDS: Final = 300.0


def microseconds() -> int:
    """Since 1970: where the numbers of a new log begin.

    A log whose segments and lock are all deleted begins beyond the numbers that it had.
    """
    return time_ns() // 1_000


class CaptureWriter:
    """Appends the frames of one node to the log in `folder`.

    Args:
        folder: Where segments lie; made if it is missing.
        node: Whose frames these are. One writer a node and folder.
        flush_seconds: A frame is not buffered for longer than this, provided that `append` is
            called, or the caller watches `due`.
        seal_bytes: A segment of this size is sealed.
        seal_seconds: A segment of this age is sealed.
        clock: Seconds that only go forward.
        begin: Gives the first number of a new log.
        reached: Gives the number after the node's last one, or None if there are no segments, for
            a caller that has listed the folder already. By default the folder is listed.
        identity: That of a new log; by default one that no other log has.

    Raises:
        ValueError: If the node's name is empty, too long, or not Unicode.
        NodeLockedError: If another writer has this node and folder.
        OSError: If the folder cannot be written.
    """

    def __init__(  # noqa: PLR0913
        self,
        folder: Path,
        node: str,
        *,
        flush_seconds: float = FLUSH_SECONDS,
        seal_bytes: int = SEAL_BYTES,
        seal_seconds: float = SEAL_SECONDS,
        clock: Callable[[], float] = monotonic,
        begin: Callable[[], int] | None = None,
        reached: Callable[[], int | None] | None = None,
        identity: str | None = None,
    ) -> None:
        make_folder(folder)
        self._folder = folder
        self._node = node
        self._flush_seconds = flush_seconds
        self._seal_bytes = seal_bytes
        self._seal_seconds = seal_seconds
        self._clock = clock
        self._buffer: list[CapturedFrame] = []
        self._buffered_bytes = 0
        self._buffered_at = 0.0
        self._open: OpenSegment | None = None
        self.written_bytes = 0
        """How much has gone to disk."""
        self._lock = NodeLock(folder, node)
        try:
            after = (reached or self._recovered)()
            self._next_sequence = self._first(begin or microseconds, after)
            self.identity = self._known_identity(after) or identity or new_identity()
            """That of the log."""
        except OSError:
            self._lock.release()
            raise
        self._lock.note(self._next_sequence)
        self._lock.identify(self.identity)

    @property
    def next_sequence(self) -> int:
        """The number that the next frame to be flushed will have."""
        return self._next_sequence

    @property
    def buffered_bytes(self) -> int:
        """How many bytes of frames are not yet on disk."""
        return self._buffered_bytes

    def append(self, frame: CapturedFrame) -> None:
        """Takes one frame, after flushing the buffer if that is due.

        Raises:
            OSError: If the disk does not take the buffer; the frame is then not in it.
        """
        if self.due():
            self.flush()
        if not self._buffer:
            self._buffered_at = self._clock()
        self._buffer.append(frame)
        self._buffered_bytes += len(frame.raw)

    def due(self) -> bool:
        """Whether the buffer is full, or its oldest frame has waited for long enough."""
        return bool(self._buffer) and (
            len(self._buffer) >= FLUSH_FRAMES
            or self._buffered_bytes >= FLUSH_BYTES
            or self._clock() - self._buffered_at >= self._flush_seconds
        )

    def flush(self) -> None:
        """Writes the buffer and returns when it is on disk.

        Raises:
            OSError: If the disk does not take it; the buffer holds what is not on disk.
        """
        if self._buffer:
            self._put(to_batch(self._buffer, first_sequence=self._next_sequence))
            self._buffer = []
            self._buffered_bytes = 0
            self._seal_if_due()

    def write(self, batch: pa.RecordBatch) -> None:
        """Writes a batch past the buffer and returns when it is on disk.

        Args:
            batch: Frames that are numbered from `next_sequence`.

        Raises:
            ValueError: If its columns or its numbers are wrong.
            OSError: If the disk does not take it.
        """
        if not batch.schema.equals(SCHEMA):
            raise ValueError("the columns are not those of captured frames")
        if not batch.num_rows or batch.column(0)[0].as_py() != self._next_sequence:
            raise ValueError(f"the batch is not numbered from {self._next_sequence}")
        self._put(batch)
        self._seal_if_due()

    def overdue(self) -> bool:
        """Whether the open segment is old enough to be sealed."""
        return self._open is not None and self._clock() - self._open.begun_at >= self._seal_seconds

    def seal(self) -> None:
        """Flushes, and makes the open segment immutable.

        Raises:
            OSError: If the disk does not take it.
        """
        self.flush()
        self._seal()

    def close(self) -> None:
        """Seals the open segment and releases the node. A closed writer is not used again.

        Raises:
            OSError: If the disk does not take what is buffered.
        """
        try:
            self.seal()
        finally:
            if self._open is not None:
                self._open.close()
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _first(self, begin: Callable[[], int], after: int | None) -> int:
        """A number that no frame of this node has had.

        Numbers go on where the segments end, unless these are not all that there were: the lock's
        file says so, or has been deleted itself.
        """
        noted = self._lock.noted()
        if noted is not None and after is not None and after >= noted:
            return after
        return max(noted or 0, after or 0, begin())

    def _recovered(self) -> int | None:
        return recover(self._segments())

    def _segments(self) -> Iterator[Segment]:
        return (one for one in segments(self._folder) if one.node == self._node)

    def _known_identity(self, after: int | None) -> str | None:
        """What the lock's file says, else what the segments do, if there are any."""
        known = self._lock.identity()
        if known is None and after is not None:
            return next(filter(None, map(identity_of, self._segments())), None)
        return known

    def _put(self, batch: pa.RecordBatch) -> None:
        if self._open is not None and self._open.torn:
            self._retire(self._open)
        if self._open is None:
            segment = Segment(self._folder, self._node, self._next_sequence, sealed=False)
            self._open = OpenSegment(segment, self._clock(), identity=self.identity)
        before = self._open.size
        self._open.write(batch)
        self.written_bytes += self._open.size - before
        self._next_sequence += batch.num_rows
        self._lock.note(self._next_sequence)

    def _retire(self, torn: OpenSegment) -> None:
        """Gives up a segment after a failed write, once it is certain what is in it."""
        torn.mend()
        try:
            self._seal()
        except OSError:
            if self._open is not None:
                with suppress(OSError):
                    torn.mend()
                torn.close()  # it stays open on disk, where it is read all the same
        self._open = None

    def _seal_if_due(self) -> None:
        if self._open is not None and (self._open.size >= self._seal_bytes or self.overdue()):
            self._seal()

    def _seal(self) -> None:
        if self._open is None:
            return
        if self._open.torn:
            self._open.mend()
        if not self._open.batch_count:
            self._open.discard()
            self._open = None
            return
        try:
            self._open.seal()
        finally:
            if self._open.segment.sealed:
                self._open = None
