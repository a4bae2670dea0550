"""Proofs of work for many messages: each searched on one core, several at a time.

The search for a message begins at a nonce that is given and takes the first one that proves
work, so the result does not depend on how many cores there are or which is faster.

Ctrl-C goes to all processes of a terminal. Only the first one obeys it, and ends the others: those
that are just starting would answer with a traceback.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import count as count_from
from multiprocessing import get_context, resource_tracker
from typing import Final

from msgspec.structs import replace

from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.integrity import work_input
from wireloom.protocols.uep12.messages import Content
from wireloom.protocols.uep12.work import SLICE, scan

FEW: Final = 24
"""Up to so many messages take less time than starting processes."""

Search = Callable[[Sequence[Content], Sequence[int]], list[Content]]


@contextmanager
def prover(count: int) -> Iterator[Search]:
    """What proves messages, given with the nonces to begin at.

    Args:
        count: How many there will be in all: many are worth all cores.
    """
    if count <= FEW:
        yield lambda messages, starts: list(map(proven, messages, starts))
        return
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        resource_tracker.ensure_running()  # where it starts later, it lets interrupts through

        def search(messages: Sequence[Content], starts: Sequence[int]) -> list[Content]:
            with _deaf():  # processes start here, and inherit it
                found = pool.map(proven, messages, starts)
            return list(found)

        yield search


@contextmanager
def _deaf() -> Iterator[None]:
    """Lets an interrupt wait.

    The mask is for processes that start meanwhile. Here another thread may get the signal, and
    Python would interrupt this one all the same, so it is noted and raised at the end.
    """
    noted: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
    if noted:
        signal.raise_signal(signal.SIGINT)


def proven(message: Content, start: int) -> Content:
    """`message` with the first nonce from `start` on that proves work."""
    puzzle = work_input(encode(message))
    nonces = (scan(puzzle, begin, SLICE) for begin in count_from(start, SLICE))
    return replace(message, pow_nonce=next(nonce for nonce in nonces if nonce is not None))
