"""The search for a proof of work, on all cores.

A `Searcher` keeps its worker processes between searches, since starting them takes longer
than most searches. It has to be closed: use it as a context manager.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from hashlib import sha256
from multiprocessing import get_context
from os import cpu_count
from types import TracebackType
from typing import Final, Self

import msgspec

from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.constants import POW_TARGET
from wireloom.protocols.uep12.integrity import NONCE_SIZE, WorkInput, work_input
from wireloom.protocols.uep12.messages import Content

NONCE_SPACE: Final = 1 << 64
SLICE: Final = 25_000
"""Nonces a task: about 25 ms of work, so a cancelled search ends in that time."""

POLL_SECONDS: Final = 0.05


class Searcher:
    """Finds nonces with as many processes as there are cores.

    Args:
        cores: How many processes to use; all cores if not given.
    """

    def __init__(self, *, cores: int | None = None) -> None:
        self._cores = cores or cpu_count() or 1
        self._pool = ProcessPoolExecutor(self._cores, mp_context=get_context("spawn"))

    def search(
        self, message: Content, *, start: int, cancelled: Callable[[], bool] = lambda: False
    ) -> Content | None:
        """`message` with a nonce that proves work.

        Args:
            message: Its own nonce is not looked at.
            start: A random number: nonces are tried upwards from it, modulo 2**64.
            cancelled: Asked every few milliseconds; when it says yes, the search ends.

        Returns:
            The message, or None if the search was cancelled.

        Raises:
            WireError: If the message cannot be encoded.
        """
        puzzle = work_input(encode(message))
        running: set[Future[int | None]] = set()
        try:
            while not cancelled():
                while len(running) < 2 * self._cores:
                    running.add(self._pool.submit(scan, puzzle, start, SLICE))
                    start = start + SLICE if start + SLICE < NONCE_SPACE else 0
                done, running = wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                nonces = [nonce for future in done if (nonce := future.result()) is not None]
                if nonces:
                    return msgspec.structs.replace(message, pow_nonce=min(nonces))
            return None
        finally:
            for future in running:
                future.cancel()

    def close(self) -> None:
        """Ends the worker processes."""
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def scan(puzzle: WorkInput, start: int, count: int) -> int | None:
    """The first nonce of `count` from `start` that proves work, on this core alone."""
    head, tail = puzzle
    target = POW_TARGET.to_bytes(32, "big")
    for nonce in range(start, min(start + count, NONCE_SPACE)):
        if sha256(head + nonce.to_bytes(NONCE_SIZE, "little") + tail).digest() < target:
            return nonce
    return None
