"""Causes before effects, whatever the clocks say."""

from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

from wireloom.report.causality import ordered

AT = datetime(2026, 1, 1, tzinfo=UTC)


def step(sighting: str, way: str, ms: float, *, own: bool = True) -> dict[str, Any]:
    """A sighting: `local`, `out peer` or `in peer`."""
    direction, _, peer = way.partition(" ")
    return {
        "sighting": sighting,
        "node": sighting.partition("#")[0],
        "direction": direction,
        "peer": peer or None,
        "captured_at": AT + timedelta(milliseconds=ms),
        "message_id": "request" if own else "answer",
        "own": own,
    }


def sightings(steps: list[dict[str, Any]]) -> list[str]:
    return [one["sighting"] for one in ordered(steps)]


def test_times_decide_where_nothing_else_does() -> None:
    steps = [step("c#0", "in x", 3), step("a#0", "in x", 1), step("b#0", "in x", 2)]
    assert sightings(steps) == ["a#0", "b#0", "c#0"]


def test_a_frame_leaves_before_it_comes_though_the_clock_there_is_slow() -> None:
    steps = [
        step("a#0", "local", 0),
        step("a#1", "out b", 1),
        step("b#0", "in a", -5_000),
        step("b#1", "local", -4_999, own=False),
        step("b#2", "out a", -4_998, own=False),
        step("a#2", "in b", 30, own=False),
    ]
    for shuffled in permutations(steps):
        assert sightings(list(shuffled)) == ["a#0", "a#1", "b#0", "b#1", "b#2", "a#2"]


def test_a_request_stands_before_its_answer_where_times_tie() -> None:
    steps = [step("a#1", "out x", 0, own=False), step("a#0", "in x", 0)]
    assert sightings(steps) == ["a#0", "a#1"]


def test_a_request_stands_before_an_answer_that_only_a_slow_node_saw() -> None:
    steps = [step("b#0", "in x", -9_000, own=False), step("a#0", "in y", 0)]
    assert sightings(steps) == ["a#0", "b#0"]


def test_the_second_copy_comes_of_the_second_that_left() -> None:
    steps = [
        step("a#0", "out b", 0),
        step("a#9", "out b", 9_000),
        step("b#0", "in a", -9_000),
        step("b#1", "in a", -1_000),
    ]
    assert sightings(steps) == ["a#0", "b#0", "a#9", "b#1"]


def test_numbers_order_what_one_instant_brought() -> None:
    steps = [step(f"a#{name}", "in x", 0) for name in ("10", "9", "9/2", "9/10")]
    assert sightings(steps) == ["a#9", "a#9/2", "a#9/10", "a#10"]


def test_clocks_that_contradict_each_other_lose_no_sighting() -> None:
    steps = [
        step("a#0", "in b", 0),
        step("a#1", "out b", 1),
        step("b#0", "in a", 0),
        step("b#1", "out a", 1),
    ]
    assert sorted(sightings(steps)) == ["a#0", "a#1", "b#0", "b#1"]
    assert ordered([]) == []
