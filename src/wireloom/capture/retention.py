"""How much of the log is kept, and for how long.

Sealed segments are deleted, the oldest first, and only those that a pipeline has taken: frames that
exist nowhere else are never deleted to make room, unless `force` says so.
"""

import re
from collections.abc import Callable, Collection
from contextlib import suppress
from errno import EDQUOT
from time import time
from typing import Final, NamedTuple

from wireloom.capture.receipts import Receipts
from wireloom.capture.segment import Segment, segments
from wireloom.remote import AnyPath, UnreachableError

SWEEP_SECONDS: Final = 60.0
"""How often a node looks for segments that are too old."""

FULL_SECONDS: Final = 1.0
"""How often a full log is checked for segments that may be deleted."""

_AGE: Final = re.compile(r"(\d{1,9})([smhd])")
_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class QuotaError(OSError):
    """The log has reached its quota, and no segment may be deleted."""


class Bounds(NamedTuple):
    """The bounds of a log; None where there is none."""

    max_bytes: int | None = None
    max_age: float | None = None
    """Seconds since a segment was sealed."""


class KeptSegment(NamedTuple):
    """One segment on disk."""

    segment: Segment
    size: int
    """With its checksums."""

    sealed_at: float


class PruneResult(NamedTuple):
    """What a sweep did."""

    deleted: list[KeptSegment]
    left: list[KeptSegment]
    overdue: list[KeptSegment]
    """Those left that are beyond the bounds and have not been taken."""

    @property
    def left_bytes(self) -> int:
        """How much is left."""
        return sum(one.size for one in self.left)


def take_age(text: str) -> float:
    """Seconds: a number with `s`, `m`, `h` or `d`.

    Raises:
        ValueError: If it is none; the text says how to write one.
    """
    found = _AGE.fullmatch(text.strip())
    if found is None or not int(found[1]):
        raise ValueError(f"{text!r:.60} is no age; write it like 90m, 12h or 7d")
    return float(int(found[1]) * _UNITS[found[2]])


def prune(
    folder: AnyPath,
    bounds: Bounds,
    *,
    now: float,
    nodes: Collection[str] = (),
    force: bool = False,
) -> PruneResult:
    """Deletes what is beyond the bounds, the oldest first.

    Args:
        folder: Where segments lie.
        bounds: What may be kept.
        now: Seconds since 1970.
        nodes: Whose segments count and go; those of all if it is empty.
        force: Delete also what no pipeline has taken.

    Raises:
        OSError: If the folder cannot be read, or a file in it not be deleted.
    """
    found = kept(folder, nodes)
    excess = 0 if bounds.max_bytes is None else sum(one.size for one in found) - bounds.max_bytes
    receipts = Receipts(folder)
    result = PruneResult([], [one for one in found if not one.segment.sealed], [])
    sealed = [one for one in found if one.segment.sealed]
    for one in sorted(sealed, key=lambda one: (one.sealed_at, one.segment)):
        is_old = bounds.max_age is not None and now - one.sealed_at > bounds.max_age
        if not is_old and excess <= 0:
            result.left.append(one)
        elif force or receipts.cover(one.segment):
            _delete(one.segment)
            result.deleted.append(one)
            excess -= one.size
        else:
            result.left.append(one)
            result.overdue.append(one)
    return result


def kept(folder: AnyPath, nodes: Collection[str] = ()) -> list[KeptSegment]:
    """The segments of some nodes, or of all, with their sizes.

    Raises:
        OSError: If the folder cannot be read.
    """
    found = []
    for segment in segments(folder):
        if not nodes or segment.node in nodes:
            with suppress(FileNotFoundError):  # sealed or deleted meanwhile
                status = segment.path.stat()
                found.append(KeptSegment(segment, status.st_size + _size(segment), status.st_mtime))
    return found


class Keeper:
    """Keeps the log of one node within its bounds while it is written.

    Args:
        folder: Where segments lie.
        node: Whose; the segments of others are not touched.
        bounds: What may be kept.
        clock: Seconds since 1970.
    """

    def __init__(
        self, folder: AnyPath, node: str, bounds: Bounds, *, clock: Callable[[], float] = time
    ) -> None:
        self._folder = folder
        self._node = node
        self._bounds = bounds
        self._clock = clock
        self._swept_at = float("-inf")
        self._is_full = False
        self.size = 0
        """How large the log is, about; it is measured with every sweep."""

    def is_due(self) -> bool:
        """Whether it is time for a sweep."""
        pause = FULL_SECONDS if self._is_full else SWEEP_SECONDS
        return not 0 <= self._clock() - self._swept_at < pause

    def sweep(self, room: int = 0) -> None:
        """Deletes what is too old or too much.

        Args:
            room: How many bytes are to be free below the quota afterwards.

        Raises:
            OSError: If that fails.
        """
        self._swept_at = self._clock()
        most = self._bounds.max_bytes
        bounds = self._bounds._replace(max_bytes=None if most is None else max(0, most - room))
        result = prune(self._folder, bounds, now=self._clock(), nodes=(self._node,))
        self.size = result.left_bytes

    def admit(self, size: int) -> None:
        """Makes room for `size` bytes.

        Raises:
            QuotaError: If there is no room to be made.
            OSError: If making it fails.
        """
        if self.is_due() or (self._exceeds(size) and not self._is_full):
            self.sweep(size)
        self._is_full = self._exceeds(size)
        if self._is_full:
            raise QuotaError(
                EDQUOT,
                f"the captures of {self._node} may have {self._bounds.max_bytes:,} bytes and have "
                f"{self.size:,}, and "
                "no pipeline has taken those that could go; run the pipeline, or raise "
                "capture_max_bytes",
            )

    def _exceeds(self, size: int) -> bool:
        most = self._bounds.max_bytes
        return most is not None and self.size + size > most

    def wrote(self, size: int) -> None:
        """Counts bytes that were written."""
        self.size += size


def _delete(segment: Segment) -> None:
    """Deletes the frames first: checksums alone do no harm."""
    segment.path.unlink(missing_ok=True)
    segment.sums_path.unlink(missing_ok=True)


def _size(segment: Segment) -> int:
    try:
        return segment.sums_path.stat().st_size
    except UnreachableError:
        raise
    except OSError:
        return 0
