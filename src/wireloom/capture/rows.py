"""Captured frames that go to disk together, in columns.

The loop adds frames and puts small ones together while they are in the processor's cache. Large
ones it lays aside: they are put between the others by the thread that writes.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa

from wireloom.capture.frame import SCHEMA
from wireloom.capture.meanings import MEANINGS, Party
from wireloom.capture.redaction import redacted, redactions, suspects
from wireloom.registry import NAMES

FIRST_ROOM: Final = 64 * 1024
LARGE: Final = 512 * 1024
"""More bytes than this in one turn are not copied by the loop."""

MAX_COLUMN_SIZE: Final = 128 * 1024 * 1024
"""Bytes of frames in a batch, about: readers take batches of twice that."""


class Rows:
    """Frames that go to disk together, in columns: cheap to add to, cheap to make a batch of.

    Args:
        room: Where frames are put together; whoever made these rows may use it again later.
    """

    def __init__(self, room: bytearray | None = None) -> None:
        self.room = bytearray(FIRST_ROOM) if room is None else room
        self.size = 0
        """Bytes of the frames that were packed or laid aside."""

        self.meanings = bytearray()
        self.frames: list[bytes] = []
        self._places = array("i")
        """Where in the next one the frame's connection stands."""
        self._connections: dict[Party, int] = {}
        self._groups: dict[int, tuple[Sequence[Party], array[int]]] = {}
        """Lists of connections and their places, by identity."""
        self._packed = 0
        """Bytes of the room that are used."""
        self._aside: list[tuple[int, list[bytes]]] = []
        """Frames that are not copied yet, and how much of the room comes before them."""
        self._whole: memoryview | None = None
        """All frames, once they are joined."""
        self._sizes: list[np.ndarray[Any, Any]] = []
        self._times: list[int] = []
        self._counts: list[int] = []
        self._timed = 0

    def __len__(self) -> int:
        return len(self.meanings)

    def add(self, connection: Party, meaning: int, frame: bytes) -> None:
        """Adds a frame."""
        self._places.append(self._place(connection))
        self.meanings.append(meaning)
        self.frames.append(frame)

    def add_all(self, connections: Sequence[Party], meaning: int, frames: Sequence[bytes]) -> None:
        """Adds a frame for each connection; the list stays as it is for as long as these rows."""
        group = self._groups.get(id(connections))
        if group is None:
            group = connections, array("i", map(self._place, connections))
            self._groups[id(connections)] = group
        self._places += group[1]
        self.meanings += bytes((meaning,)) * len(frames)
        self.frames += frames

    def _place(self, connection: Party) -> int:
        return self._connections.setdefault(connection, len(self._connections))

    def at(self, now: int) -> None:
        """Says when all that was added since the last call happened, in ns."""
        count = len(self) - self._timed
        if count:
            self._timed += count
            self._times.append(now)
            self._counts.append(count)

    def pack(self) -> None:
        """Puts frames together while they are in the processor's cache, unless they are large."""
        frames = self.frames
        if not frames:
            return
        sizes = np.fromiter(map(len, frames), np.int64, len(frames))
        self._sizes.append(sizes)
        size = int(sizes.sum())
        self.size += size
        if size > LARGE:
            self._aside.append((self._packed, frames))
            self.frames = []
            return
        start, self._packed = self._packed, self._packed + size
        if self._packed > len(self.room):
            self.room = self.room + bytes(max(len(self.room), size))
        self.room[start : self._packed] = b"".join(frames)
        frames.clear()

    def join(self) -> None:
        """Puts large frames between the others; once all are packed, and before the rest.

        It is for another thread than the loop's: numpy copies much without the interpreter's lock.
        """
        packed = memoryview(self.room)[: self._packed]
        if not self._aside:
            self._whole = packed
            return
        whole = np.empty(self.size, np.uint8)
        at = done = 0
        for place, frames in (*self._aside, (self._packed, [])):
            pieces: list[bytes | memoryview] = [packed[done:place], *frames]
            for piece in filter(len, pieces):
                whole[at : at + len(piece)] = np.frombuffer(piece, np.uint8)
                at += len(piece)
            done = place
        self._whole = whole.data

    def redact(self) -> None:
        """Hides what lets somebody in."""
        protocols = {one.protocol for one in self._connections} & _REDACTED
        if not protocols:
            return
        ends = self._ends()
        frames, spoken, whole = self._raw(ends), list(self._connections), self._joined()
        for protocol in protocols:
            for place in suspects(protocol, frames):
                if spoken[self._places[place]].protocol == protocol:
                    begin, end = ends[place], ends[place + 1]
                    whole[begin:end] = redacted(protocol, bytes(whole[begin:end]))

    def batches(self, node: str, *, first_sequence: int) -> Iterator[pa.RecordBatch]:
        """The rows as batches of the capture log: one, unless the frames are very large."""
        ends = self._ends()
        cuts = np.searchsorted(ends, np.arange(MAX_COLUMN_SIZE, ends[-1], MAX_COLUMN_SIZE))
        bounds = np.unique([0, *cuts, len(self)]).tolist()
        columns = self._columns(node, first_sequence, ends)
        for first, last in pairwise(bounds):
            parts = [
                column.slice(first, last - first).cast(field.type)
                for column, field in zip(columns, SCHEMA, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(parts, schema=SCHEMA)

    def _ends(self) -> np.ndarray[Any, Any]:
        """Where frames begin and end."""
        ends = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.concatenate(self._sizes), out=ends[1:])
        return ends

    def _joined(self) -> memoryview:
        assert self._whole is not None, "join comes first"
        return self._whole

    def _raw(self, ends: np.ndarray[Any, Any]) -> pa.Array:
        """The frames as a column, from one buffer: much faster than value by value."""
        data = pa.py_buffer(self._joined())
        return pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), len(self), [None, pa.py_buffer(ends), data]
        )

    def _columns(self, node: str, first: int, ends: np.ndarray[Any, Any]) -> list[pa.Array]:
        count = len(self)
        connections = list(self._connections)
        places = pa.array(np.frombuffer(self._places, np.int32))
        meanings = pa.array(np.frombuffer(self.meanings, np.uint8))
        swarms, epochs = zip(*[one.swarm or _NO_SWARM for one in connections], strict=True)
        columns = {
            "sequence": pa.array(np.arange(first, first + count)),
            "captured_at": pa.array(np.repeat(np.array(self._times) // 1_000, self._counts)),
            "node": pa.repeat(node, count),
            "protocol": pa.array([one.protocol for one in connections]).take(places),
            "link": pa.array([one.link for one in connections]).take(places),
            "direction": _DIRECTIONS.take(meanings),
            "peer": pa.array([one.name for one in connections]).take(places),
            "outcome": _OUTCOMES.take(meanings),
            "reason": _REASONS.take(meanings),
            "swarm": pa.array(swarms, pa.string()).take(places),
            "epoch_ms": pa.array(epochs, pa.int64()).take(places),
            "raw": self._raw(ends),
        }
        return [columns.get(field.name, pa.nulls(count, field.type)) for field in SCHEMA]


_NO_SWARM: Final = (None, None)
_REDACTED: Final = {name for name in NAMES if any(one.MARKS for one in redactions(name))}
"""Protocols whose frames may let somebody in."""

_DIRECTIONS, _OUTCOMES, _REASONS = (
    pa.array(column, pa.string()) for column in zip(*MEANINGS, strict=True)
)
