"""Captures of simulated nodes: the same segments that nodes on sockets write."""

import zlib
from hashlib import sha256
from pathlib import Path
from typing import Final

from wireloom.capture.identity import DIGITS
from wireloom.capture.rows import Rows
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter
from wireloom.performing.world import NS_PER_MS

FLUSH_ROWS: Final = 8_192
"""Rows that go to disk together."""

NUMBERS: Final = 1_000_000
"""How many numbers lie between those of neighbouring seeds."""


class TimedRows(Rows):
    """Rows that know when the last of them happened."""

    last_ns = 0

    def at(self, now: int) -> None:
        """Says when all that was added since the last call happened, in ns."""
        if len(self) > self._timed:
            self.last_ns = now
        super().at(now)


class MemoryTap:
    """The frames of one node, until they are written.

    Args:
        node: Whose they are.
        writer: Where they go.
    """

    def __init__(self, node: str, writer: CaptureWriter) -> None:
        self.rows = TimedRows()
        self._flushed_ns = 0
        self._node = node
        self._writer = writer

    @property
    def last_ns(self) -> int:
        """When the last frame was captured."""
        return max(self.rows.last_ns, self._flushed_ns)

    def flush(self, least: int = 1) -> None:
        """Writes the frames that came since the last time, if there are so many."""
        if len(self.rows) < least:
            return
        rows, self.rows = self.rows, TimedRows()
        self._flushed_ns = rows.last_ns
        rows.pack()
        rows.join()
        rows.redact()
        for batch in rows.batches(self._node, first_sequence=self._writer.next_sequence):
            self._writer.write(batch)

    def close(self) -> None:
        """Writes what is left, and seals the log."""
        self.flush()
        self._writer.close()


class Captures:
    """The logs of all nodes of one world; the same seed gives the same logs.

    Args:
        folder: Where they lie; no captures may be there yet.
        seed: The world's seed.

    Raises:
        FileExistsError: If there are captures.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        if next(iter(segments(folder)), None) is not None:
            raise FileExistsError(f"{folder} has captures already")
        self._folder = folder
        self._seed = seed
        self._taps: list[MemoryTap] = []

    def tap(self, node: str) -> MemoryTap:
        """The tap of a node."""
        begin = zlib.crc32(str(self._seed).encode()) * NUMBERS
        identity = sha256(f"{self._seed}/{node}".encode()).hexdigest()[:DIGITS]
        # A clock that stands still seals by size only: the same seed, the same segments.
        writer = CaptureWriter(
            self._folder, node, clock=lambda: 0.0, begin=lambda: begin, identity=identity
        )
        made = MemoryTap(node, writer)
        self._taps.append(made)
        return made

    @property
    def horizon_ms(self) -> int:
        """When the last frame was captured."""
        return max((tap.last_ns for tap in self._taps), default=0) // NS_PER_MS

    def flush(self) -> None:
        """Writes the frames of nodes that have many."""
        for tap in self._taps:
            tap.flush(FLUSH_ROWS)

    def close(self) -> None:
        """Writes all that is left."""
        for tap in self._taps:
            tap.close()
