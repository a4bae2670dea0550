"""Writing the frames of many nodes to one folder, with few writers open at once.

Frames are buffered and written node by node, so that a writer is opened once for many frames
in whatever order they come. The folder is listed once for all nodes.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from wireloom.capture.frame import CapturedFrame
from wireloom.capture.segment import Segment, segments
from wireloom.capture.tail import recover
from wireloom.capture.writer import CaptureWriter

MAX_WRITERS: Final = 128
"""A writer has three files open. With more nodes, the least recently used writer is closed."""

MAX_BUFFERED_BYTES: Final = 64 * 1024 * 1024
"""The size of the buffer for all nodes together."""

ROW_BYTES: Final = 400
"""The memory that a frame takes besides its bytes."""


class Origin(NamedTuple):
    """Where a log that continues one elsewhere begins."""

    begin: int
    """The first number."""

    identity: str
    """The log's."""


class Fanout:
    """Appends each frame to the log of its node.

    Args:
        folder: Where segments lie; made if it is missing.
        origin: Where the log of a node begins that is not in the folder.
        flushed: Called when all buffers have been written.

    Raises:
        OSError: If the folder is there and cannot be read.
    """

    def __init__(
        self,
        folder: Path,
        *,
        origin: Callable[[str], Origin] | None = None,
        flushed: Callable[[], None] = lambda: None,
    ) -> None:
        self._folder = folder
        self._origin = origin
        self._flushed = flushed
        self._writers: dict[str, CaptureWriter] = {}
        self._waiting: defaultdict[str, list[CapturedFrame]] = defaultdict(list)
        self._waiting_bytes = 0
        self._left: defaultdict[str, list[Segment]] = defaultdict(list)
        """The segments of each node that existed before."""
        self._next: dict[str, int] = {}
        """The next number of each node whose writer was closed."""
        for segment in segments(folder):
            self._left[segment.node].append(segment)

    def append(self, frame: CapturedFrame) -> None:
        """Takes one frame.

        Raises:
            OSError: If the disk does not take what is buffered.
        """
        self._waiting[frame.node].append(frame)
        self._waiting_bytes += len(frame.raw) + ROW_BYTES
        if self._waiting_bytes >= MAX_BUFFERED_BYTES:
            self.flush()

    def flush(self) -> None:
        """Writes all buffers to disk.

        Raises:
            OSError: If the disk does not take them.
        """
        while self._waiting:
            node, frames = self._waiting.popitem()
            writer = self._writer(node)
            for frame in frames:
                writer.append(frame)
            writer.flush()
        self._waiting_bytes = 0
        self._flushed()

    def close(self) -> None:
        """Seals everything.

        Raises:
            OSError: If the disk does not take it; the other nodes' frames are sealed first.
        """
        failures = []
        try:
            self.flush()
        except OSError as error:
            failures.append(error)
        while self._writers:
            try:
                self._close(next(iter(self._writers)))
            except OSError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _writer(self, node: str) -> CaptureWriter:
        writer = self._writers.pop(node, None)
        if writer is None:
            if len(self._writers) >= MAX_WRITERS:
                self._close(next(iter(self._writers)))
            writer = self._opened(node)
        self._writers[node] = writer
        return writer

    def _opened(self, node: str) -> CaptureWriter:
        reached = partial(self._reached, node)
        if self._origin is None:
            return CaptureWriter(self._folder, node, reached=reached)
        begin, identity = self._origin(node)
        return CaptureWriter(
            self._folder, node, reached=reached, begin=lambda: begin, identity=identity
        )

    def _reached(self, node: str) -> int | None:
        known = self._next.get(node)
        return recover(self._left.pop(node, [])) if known is None else known

    def _close(self, node: str) -> None:
        writer = self._writers.pop(node)
        writer.close()
        self._next[node] = writer.next_sequence
