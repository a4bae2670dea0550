"""The base of every message."""

import pytest

from wireloom.wire.message import Summary, Unknown, rank_of_three


def test_messages_are_frozen() -> None:
    message = Unknown(type="x", raw=b"")
    with pytest.raises(AttributeError):
        message.type = "y"  # type: ignore[misc]


def test_a_summary_knows_nothing_but_the_type_by_default() -> None:
    summary = Summary(type="x")
    assert [getattr(summary, name) for name in summary.__struct_fields__] == ["x"] + [None] * 10


def test_three_priorities_spread_over_five_ranks() -> None:
    assert [rank_of_three(p) for p in (0, 1, 2, None)] == [0, 2, 4, None]
