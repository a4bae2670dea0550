"""Many nodes' frames into one folder: a writer for each, few at once."""

from pathlib import Path
from types import TracebackType
from typing import Final, Self

from wireloom.capture.record import Captured
from wireloom.capture.writer import CaptureWriter

MAX_WRITERS: Final = 128
"""A writer has three files open. With more nodes, the one longest unused is closed."""

MAX_BUFFERED_BYTES: Final = 64 * 1024 * 1024
"""All writers together."""


class Fanout:
    """Appends each frame to the log of its node.

    Args:
        folder: Where segments lie; made if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writers: dict[str, CaptureWriter] = {}
        self._appended_bytes = 0

    def append(self, frame: Captured) -> None:
        """Takes one frame.

        Raises:
            OSError: If the disk does not take what is buffered.
        """
        self._writer(frame.node).append(frame)
        self._appended_bytes += len(frame.raw)
        if self._appended_bytes >= MAX_BUFFERED_BYTES:
            self.flush()

    def flush(self) -> None:
        """Puts all buffers on disk.

        Raises:
            OSError: If the disk does not take them.
        """
        for writer in self._writers.values():
            writer.flush()
        self._appended_bytes = 0

    def close(self) -> None:
        """Seals everything.

        Raises:
            OSError: If the disk does not take it; the other nodes' frames are sealed first.
        """
        failures = []
        while self._writers:
            _, writer = self._writers.popitem()
            try:
                writer.close()
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
                self._writers.pop(next(iter(self._writers))).close()
            writer = CaptureWriter(self._folder, node)
        self._writers[node] = writer
        return writer
