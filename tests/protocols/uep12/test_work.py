"""The search for a nonce, in real processes."""

from collections.abc import Iterator

import pytest

from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.integrity import authenticate, work_input
from wireloom.protocols.uep12.messages import Content
from wireloom.protocols.uep12.work import Searcher, scan
from wireloom.wire.outcome import Auth

MESSAGE = Content(pow_nonce=0, timestamp=1681084800123, ttl_epoch=60, payload=b"hello swarm")
NONCE = 22533
"""The first nonce from 0 that proves work for MESSAGE: the vector's own."""


@pytest.fixture(scope="module")
def searcher() -> Iterator[Searcher]:
    with Searcher(cores=2) as searcher:
        yield searcher


def test_the_search_finds_a_nonce_that_proves_work(searcher: Searcher) -> None:
    found = searcher.search(MESSAGE, start=0)
    assert found is not None
    assert found.pow_nonce == NONCE
    assert authenticate(found, encode(found), ()) is Auth.VALID


def test_the_search_goes_round_at_the_end_of_the_nonces(searcher: Searcher) -> None:
    found = searcher.search(MESSAGE, start=2**64 - 10)
    assert found is not None
    assert authenticate(found, encode(found), ()) is Auth.VALID
    assert found.pow_nonce == NONCE


def test_a_cancelled_search_ends_without_a_nonce(searcher: Searcher) -> None:
    answers = iter([False, True])
    assert searcher.search(MESSAGE, start=NONCE + 1, cancelled=lambda: next(answers)) is None


def test_a_search_can_be_cancelled_before_it_begins(searcher: Searcher) -> None:
    assert searcher.search(MESSAGE, start=0, cancelled=lambda: True) is None


def test_scan_covers_its_slice_and_no_more() -> None:
    puzzle = work_input(encode(MESSAGE))
    assert scan(puzzle, 0, NONCE) is None
    assert scan(puzzle, 0, NONCE + 1) == NONCE
    assert scan(puzzle, 2**64 - 10, 100) is None
