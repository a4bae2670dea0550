"""Every frame and its outcome into the capture log, without holding up the loop.

The driver appends rows; a thread makes batches of them and puts them on disk. A log that does
not take them is no reason to lose them: they wait, and when too many do, the node stops reading.

A log that is as large as it may be is another matter: whoever sends much would stop everybody else.
What does not fit is passed over and counted, until a pipeline has taken what can go.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from wireloom.capture.retention import Keeper, QuotaError
from wireloom.capture.rows import Rows
from wireloom.capture.writer import CaptureWriter

FLUSH_SECONDS: Final = 0.2
"""How long a frame waits for others that go to disk with it."""

FLUSH_ROWS: Final = 32_768
FLUSH_BYTES: Final = 16 * 1024 * 1024
"""Rows and bytes a batch, about."""

MAX_ROOMS: Final = 2
"""Memory that is used again: to get it from the system anew takes longer than to fill it."""

MAX_ROWS: Final = 131_072
MAX_BYTES: Final = 128 * 1024 * 1024
"""With more waiting, the node takes nothing in."""

RETRY_SECONDS: Final = 1.0
"""How long a log that takes nothing is left alone."""

_log: Final = logging.getLogger(__name__)


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
        """Why the log does not take frames, while it does not; they wait."""

        self.excess: QuotaError | None = None
        """Why frames are passed over, while they are."""

        self.passed_over = 0
        """Frames that were not captured because the log was as large as it may be."""

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
        """Writes what is left and seals the log; after `run` has ended.

        Raises:
            OSError: If the disk does not take it.
        """
        self._pool.shutdown()
        self._hand_over()
        try:
            while self._full:
                self._write_admitted()
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
        """Puts the oldest rows on disk if there is room for them; else they are passed over."""
        keeper = self._keeper
        if keeper is None:
            self._write_next()
            return
        try:
            keeper.admit(self._full[0].size)
        except QuotaError as error:
            self._pass_over(error)
            return
        self.excess = None
        before = self._writer.written_bytes
        try:
            self._write_next()
        finally:
            keeper.wrote(self._writer.written_bytes - before)

    def _pass_over(self, error: QuotaError) -> None:
        if self.excess is None:
            _log.error("frames are not captured: %s", error.strerror)
        self.excess = error
        self.passed_over += len(self._full[0])
        self._done(self._full.popleft())

    def _tidy(self) -> None:
        """Seals what is old, and lets go what is too old."""
        if self._writer.overdue():
            self._writer.seal()
        if self._keeper is not None:
            self._keeper.sweep()

    def _write_next(self) -> None:
        """Puts the oldest rows on disk; they are forgotten only once they are there."""
        rows = self._full[0]
        rows.join()
        if not self._tokens:
            rows.redact()
        for batch in rows.batches(self._node, first_sequence=self._writer.next_sequence):
            self._writer.write(batch)
        self._done(self._full.popleft())

    def _done(self, rows: Rows) -> None:
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
