"""Does the search for a proof of work use all cores?

The peer is the barest loop over hashlib on one core, its rate multiplied by the number of
cores. Both look for the same nonces, from starts that lie a known way before them.
"""

import statistics
from hashlib import sha256
from os import cpu_count
from time import perf_counter

from timing import Figure
from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.constants import POW_TARGET
from wireloom.protocols.uep12.integrity import work_input
from wireloom.protocols.uep12.messages import Content
from wireloom.protocols.uep12.work import Searcher

MESSAGE = Content(pow_nonce=0, timestamp=1681084800123, ttl_epoch=60, payload=b"bench" * 40)
ROUNDS = 7
WAY = 400_000
"""Least number of nonces between start and find."""


def bare(start: int) -> int:
    """The barest search."""
    head, tail = work_input(encode(MESSAGE))
    target = POW_TARGET.to_bytes(32, "big")
    nonce = start
    while sha256(head + nonce.to_bytes(8, "little") + tail).digest() >= target:
        nonce += 1
    return nonce


def far_starts(count: int) -> list[tuple[int, int]]:
    """Starts from which the next nonce is at least `WAY` off, with that nonce."""
    found: list[tuple[int, int]] = []
    start = 0
    while len(found) < count:
        nonce = bare(start)
        if nonce - start >= WAY:
            found.append((start, nonce))
        start = nonce + 1
    return found


def measure() -> list[Figure]:
    """The figures."""
    cores = cpu_count() or 1
    ours, peers = [], []
    with Searcher() as searcher:
        searcher.search(MESSAGE, start=0)
        for start, nonce in far_starts(ROUNDS):
            begin = perf_counter()
            searcher.search(MESSAGE, start=start)
            ours.append((nonce - start) / (perf_counter() - begin))
            begin = perf_counter()
            bare(start)
            peers.append((nonce - start) / (perf_counter() - begin) * cores)
    return [
        Figure(
            f"UEP-12 work search, {cores} cores",
            f"{statistics.median(ours):,.0f} hashes/s",
            f"bare hashlib loop × {cores}: {statistics.median(peers):,.0f} hashes/s",
            statistics.median(mine / other for mine, other in zip(ours, peers, strict=True)),
            0.8,
        )
    ]
