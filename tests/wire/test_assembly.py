"""Fragments of many messages, in bounded memory."""

import pytest

from wireloom.wire.assembly import Assembler
from wireloom.wire.errors import MalformedError


def test_parts_come_together_in_their_order() -> None:
    assembler = Assembler(timeout_ms=100, extend=False)
    assert assembler.add("k", 1, 2, b"b", now_ms=0) is None
    assert assembler.add("k", 0, 2, b"a", now_ms=0) == b"ab"
    assert assembler.pending_count == 0


def test_time_runs_from_the_first_fragment_or_from_the_last() -> None:
    for extend, whole in ((False, None), (True, b"abc")):
        assembler = Assembler(timeout_ms=100, extend=extend)
        assembler.add("k", 0, 3, b"a", now_ms=0)
        assembler.add("k", 1, 3, b"b", now_ms=60)
        assert assembler.add("k", 2, 3, b"c", now_ms=120) == whole
        assert assembler.dropped_count == (0 if extend else 1)


def test_the_oldest_gives_way_when_there_is_no_room() -> None:
    assembler = Assembler(timeout_ms=100, extend=False, max_pending=2)
    for key in ("a", "b", "c"):
        assembler.add(key, 0, 2, b"x", now_ms=0)
    assert (assembler.pending_count, assembler.dropped_count) == (2, 1)
    assert assembler.add("a", 1, 2, b"y", now_ms=0) is None
    assert assembler.add("c", 1, 2, b"y", now_ms=0) == b"xy"


def test_contradictions_are_refused() -> None:
    assembler = Assembler(timeout_ms=100, extend=False)
    assembler.add("k", 0, 3, b"a", now_ms=0)
    with pytest.raises(MalformedError, match="fragment of 4, earlier ones were of 3"):
        assembler.add("k", 1, 4, b"b", now_ms=0)
    with pytest.raises(MalformedError, match="another content"):
        assembler.add("k", 0, 3, b"b", now_ms=0)
    assert assembler.add("k", 0, 3, b"a", now_ms=0) is None
