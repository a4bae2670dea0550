"""Every frame and its outcome into the capture log, without holding up the loop.

The driver appends rows; a thread makes batches of them and puts them on disk. A log that does
not take them is no reason to lose them: they wait, and when too many do, the node stops reading.
"""

import asyncio
import logging
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from wireloom.capture.record import SCHEMA, Direction
from wireloom.capture.redaction import redacted, redactions, suspects
from wireloom.capture.retention import Keeper
from wireloom.capture.writer import CaptureWriter
from wireloom.live.links.connection import Connection
from wireloom.registry import NAMES
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Conclude

FLUSH_SECONDS: Final = 0.2
"""How long a frame waits for others that go to disk with it."""

FLUSH_ROWS: Final = 32_768
FLUSH_BYTES: Final = 16 * 1024 * 1024
"""Rows and bytes a batch, about."""

FIRST_ROOM: Final = 64 * 1024
MAX_ROOMS: Final = 2
"""Memory that is used again: to get it from the system anew takes longer than to fill it."""

MAX_ROWS: Final = 131_072
MAX_BYTES: Final = 128 * 1024 * 1024
"""With more waiting, the node takes nothing in."""

RETRY_SECONDS: Final = 1.0
MAX_COLUMN_SIZE: Final = 128 * 1024 * 1024
"""Bytes of frames in a batch, about: readers take batches of twice that."""

MEANINGS: Final = (
    *((Direction.OUT, outcome, None) for outcome in (None, *Outcome)),
    *((Direction.IN, outcome, None) for outcome in Outcome),
    *((Direction.IN, Outcome.REJECTED, reason) for reason in Reason),
    (Direction.LOCAL, None, None),
)
"""All that a row can say of a frame: which way, what became of it, why. Rows have the number."""

LEFT: Final = {outcome: n for n, (way, outcome, _) in enumerate(MEANINGS) if way == Direction.OUT}
"""The meaning of a frame that left, by its outcome."""

CAME: Final = {
    (outcome, reason): n for n, (way, outcome, reason) in enumerate(MEANINGS) if way == Direction.IN
}
"""The meaning of a frame that came in, by its outcome and the reason."""

COMPOSED: Final = len(MEANINGS) - 1
"""The meaning of a frame that was composed here and left for nobody."""

_log: Final = logging.getLogger(__name__)


def came(conclusion: Conclude) -> int:
    """The meaning of a frame that came in; a reason counts only where something was rejected."""
    outcome = conclusion.outcome
    return CAME.get((outcome, conclusion.reason), CAME[outcome, None])


class Absent(NamedTuple):
    """Stands for the connection of a frame that was composed for a peer who is not there."""

    protocol: str
    name: str
    link: str = "local"


class Rows:
    """Frames that go to disk together, in columns: cheap to add to, cheap to make a batch of.

    Args:
        room: Where frames are put together; whoever made these rows may use it again later.
    """

    def __init__(self, room: bytearray | None = None) -> None:
        self.room = bytearray(FIRST_ROOM) if room is None else room
        self.size = 0
        """Bytes of the frames that were packed."""

        self.meanings = bytearray()
        self.frames: list[bytes] = []
        self._places = array("i")
        """Where in the next one the frame's connection stands."""
        self._connections: dict[Connection | Absent, int] = {}
        self._groups: dict[int, tuple[list[Connection], array[int]]] = {}
        """Lists of connections and their places, by identity."""
        self._sizes: list[np.ndarray[Any, Any]] = []
        self._times: list[int] = []
        self._counts: list[int] = []
        self._timed = 0

    def __len__(self) -> int:
        return len(self.meanings)

    def add(self, connection: Connection | Absent, meaning: int, frame: bytes) -> None:
        """Adds a frame."""
        self._places.append(self._place(connection))
        self.meanings.append(meaning)
        self.frames.append(frame)

    def add_all(self, connections: list[Connection], meaning: int, frames: Sequence[bytes]) -> None:
        """Adds a frame for each connection; the list stays as it is for as long as these rows."""
        group = self._groups.get(id(connections))
        if group is None:
            group = connections, array("i", map(self._place, connections))
            self._groups[id(connections)] = group
        self._places += group[1]
        self.meanings += bytes((meaning,)) * len(frames)
        self.frames += frames

    def _place(self, connection: Connection | Absent) -> int:
        return self._connections.setdefault(connection, len(self._connections))

    def at(self, now: int) -> None:
        """Says when all that was added since the last call happened, in ns."""
        count = len(self) - self._timed
        if count:
            self._timed += count
            self._times.append(now)
            self._counts.append(count)

    def pack(self) -> None:
        """Puts frames together while they are in the processor's cache."""
        if self.frames:
            blob = b"".join(self.frames)
            start, self.size = self.size, self.size + len(blob)
            if self.size > len(self.room):
                self.room = self.room + bytes(max(len(self.room), len(blob)))
            self.room[start : self.size] = blob
            self._sizes.append(np.fromiter(map(len, self.frames), np.int64, len(self.frames)))
            self.frames.clear()

    def redact(self) -> None:
        """Hides what lets somebody in; once all frames are packed."""
        protocols = {one.protocol for one in self._connections} & _REDACTED
        if not protocols:
            return
        ends = self._ends()
        frames, spoken = self._raw(ends), list(self._connections)
        room = memoryview(self.room)
        for protocol in protocols:
            for place in suspects(protocol, frames):
                if spoken[self._places[place]].protocol == protocol:
                    begin, end = ends[place], ends[place + 1]
                    room[begin:end] = redacted(protocol, bytes(room[begin:end]))

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
        """Where frames begin and end in the room."""
        ends = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.concatenate(self._sizes), out=ends[1:])
        return ends

    def _raw(self, ends: np.ndarray[Any, Any]) -> pa.Array:
        """The frames as a column, from one buffer: much faster than value by value."""
        data = pa.py_buffer(memoryview(self.room)[: self.size])
        return pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), len(self), [None, pa.py_buffer(ends), data]
        )

    def _columns(self, node: str, first: int, ends: np.ndarray[Any, Any]) -> list[pa.Array]:
        count = len(self)
        connections = list(self._connections)
        places = pa.array(np.frombuffer(self._places, np.int32))
        meanings = pa.array(np.frombuffer(self.meanings, np.uint8))
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
            "raw": self._raw(ends),
        }
        return [columns.get(field.name, pa.nulls(count, field.type)) for field in SCHEMA]


_REDACTED: Final = {name for name in NAMES if any(one.MARKS for one in redactions(name))}
"""Protocols whose frames may let somebody in."""

_DIRECTIONS, _OUTCOMES, _REASONS = (
    pa.array(column, pa.string()) for column in zip(*MEANINGS, strict=True)
)


class Tap:
    """Writes rows to the log of one node.

    Args:
        writer: The log.
        node: Whose frames they are.
        overloaded: Told when too much waits, and when little enough does again.
        tokens: Whether frames are written with the tokens in them.
        keeper: Keeps the log within its bounds, where it has some.
    """

    def __init__(
        self,
        writer: CaptureWriter,
        node: str,
        *,
        overloaded: Callable[[bool], None],
        tokens: bool = False,
        keeper: Keeper | None = None,
    ) -> None:
        self.rows = Rows()
        """Where the driver adds frames."""

        self.failure: OSError | None = None
        """Why the log does not take frames, while it does not."""

        self.is_overloaded = False
        self._writer = writer
        self._node = node
        self._overloaded = overloaded
        self._tokens = tokens
        self._keeper = keeper
        self._full: deque[Rows] = deque()
        self._rooms: deque[bytearray] = deque(maxlen=MAX_ROOMS)
        self._handed_rows = self._handed_bytes = 0  # only the loop adds to these
        self._written_rows = self._written_bytes = 0  # and only the thread to these
        self._wanted = asyncio.Event()
        self._is_stopping = False
        self._pool = ThreadPoolExecutor(1, "capture")

    @property
    def is_failing(self) -> bool:
        """Whether the log does not take frames."""
        return self.failure is not None

    @property
    def waiting(self) -> int:
        """Rows that are not on disk."""
        return self._handed_rows - self._written_rows + len(self.rows)

    @property
    def kept_bytes(self) -> int:
        """How large the log is, where it has bounds."""
        return 0 if self._keeper is None else self._keeper.size

    def check(self) -> None:
        """Packs what was added, and has it written if it is enough; called once a turn."""
        rows = self.rows
        rows.pack()
        if len(rows) >= FLUSH_ROWS or rows.size >= FLUSH_BYTES:
            self._hand_over()
            self._wanted.set()
            self._weigh()

    async def run(self) -> None:
        """Writes until stopped; what is left then is written by `close`."""
        while not self._is_stopping:
            with suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECONDS):
                    await self._wanted.wait()
            self._wanted.clear()
            self._hand_over()
            while self._full and not self._is_stopping:
                await self._flush()
            if self._keeper is not None and self._keeper.is_due():
                await self._do(self._tidy)

    def stop(self) -> None:
        """Has `run` end."""
        self._is_stopping = True
        self._wanted.set()

    def close(self) -> None:
        """Writes what is left, beyond the quota too, and seals the log; after `run` has ended.

        Raises:
            OSError: If the disk does not take it.
        """
        self._pool.shutdown()
        self._hand_over()
        try:
            while self._full:
                self._write_next()
        finally:
            self._writer.close()

    def _hand_over(self) -> None:
        if len(self.rows):
            self.rows.pack()
            self._full.append(self.rows)
            self._handed_rows += len(self.rows)
            self._handed_bytes += self.rows.size
            self.rows = Rows(self._rooms.popleft() if self._rooms else None)

    async def _flush(self) -> None:
        await self._do(self._write_admitted)
        self._weigh()

    async def _do(self, job: Callable[[], None]) -> None:
        """Does something on disk in the thread; what fails is told, and tried again later."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._pool, job)
        except OSError as error:
            if self.failure is None:
                why = error.strerror or error
                _log.error("frames wait because the capture log does not take them: %s", why)
            self.failure = error
            await asyncio.sleep(RETRY_SECONDS)
        else:
            self.failure = None

    def _write_admitted(self) -> None:
        """Puts the oldest rows on disk if there is room for them."""
        keeper, before = self._keeper, self._writer.written_bytes
        if keeper is not None:
            keeper.admit(self._full[0].size)
        try:
            self._write_next()
        finally:
            if keeper is not None:
                keeper.wrote(self._writer.written_bytes - before)

    def _tidy(self) -> None:
        """Seals what is old, and lets go what is too old."""
        if self._writer.overdue():
            self._writer.seal()
        if self._keeper is not None:
            self._keeper.sweep()

    def _write_next(self) -> None:
        """Puts the oldest rows on disk; they are forgotten only once they are there."""
        rows = self._full[0]
        if not self._tokens:
            rows.redact()
        for batch in rows.batches(self._node, first_sequence=self._writer.next_sequence):
            self._writer.write(batch)
        self._full.popleft()
        self._written_rows += len(rows)
        self._written_bytes += rows.size
        if len(rows.room) <= 2 * FLUSH_BYTES:
            self._rooms.append(rows.room)

    def _weigh(self) -> None:
        part = 2 if self.is_overloaded else 1
        rows = self._handed_rows - self._written_rows
        size = self._handed_bytes - self._written_bytes
        is_much = rows > MAX_ROWS // part or size > MAX_BYTES // part
        if is_much != self.is_overloaded:
            self.is_overloaded = is_much
            self._overloaded(is_much)
