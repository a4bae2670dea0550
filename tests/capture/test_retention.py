"""How much is kept, and for how long."""

import os
from pathlib import Path

import pytest

from capture.made import frame, log
from wireloom.capture.receipts import put_receipt
from wireloom.capture.retention import (
    FULL_SECONDS,
    Bounds,
    Keeper,
    QuotaError,
    kept,
    prune,
    take_age,
)
from wireloom.capture.segment import Segment, segments
from wireloom.capture.writer import CaptureWriter
from wireloom.remote import local

NOW = 1_700_000_000.0
DAY = 86_400.0


def aged(folder: Path, days: dict[str, int], *, taken: str = "") -> dict[str, Segment]:
    """A segment a node, sealed so many days ago; those named by a letter in `taken` are taken."""
    made = {node: log(folder, node=node) for node in days}
    for node, count in days.items():
        os.utime(local(made[node].path), (NOW - count * DAY,) * 2)
    put_receipt(folder, "tables", {made[node].name: 3 for node in taken})
    return made


def left(folder: Path) -> str:
    return "".join(segment.node for segment in segments(folder))


def sizes(folder: Path) -> int:
    return sum(one.size for one in kept(folder))


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("5m", 300), ("12h", 43_200), ("7d", 604_800), (" 1d ", DAY)]
)
def test_an_age_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert take_age(text) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "-7d", "1.5h", "7w", "0d", "nan", "9999999999s"])
def test_what_is_no_age_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write it like 90m, 12h or 7d"):
        take_age(text)


def test_what_is_too_old_goes_if_it_was_taken(tmp_path: Path) -> None:
    aged(tmp_path, {"a": 9, "b": 8, "c": 1}, taken="ac")
    pruned = prune(tmp_path, Bounds(max_age=7 * DAY), now=NOW)
    assert left(tmp_path) == "bc"
    assert [one.segment.node for one in pruned.deleted] == ["a"]
    assert [one.segment.node for one in pruned.overdue] == ["b"]
    assert not list(tmp_path.glob("a-*")), "its checksums go with it"


def test_the_oldest_go_until_the_rest_is_small_enough(tmp_path: Path) -> None:
    aged(tmp_path, {"a": 1, "b": 3, "c": 2}, taken="abc")
    one = sizes(tmp_path) // 3
    pruned = prune(tmp_path, Bounds(max_bytes=one), now=NOW)
    assert left(tmp_path) == "a"
    assert pruned.left_bytes == sizes(tmp_path) == one
    prune(tmp_path, Bounds(max_bytes=0), now=NOW)
    assert left(tmp_path) == ""


def test_what_was_not_taken_stays_unless_somebody_insists(tmp_path: Path) -> None:
    aged(tmp_path, {"a": 9, "b": 8})
    bounds = Bounds(max_bytes=0, max_age=DAY)
    assert len(prune(tmp_path, bounds, now=NOW).overdue) == 2
    assert left(tmp_path) == "ab"
    prune(tmp_path, bounds, now=NOW, nodes=["a"], force=True)
    assert left(tmp_path) == "b"


def test_what_is_being_written_stays_and_counts(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path, "a") as writer:
        writer.append(frame(node="a"))
        writer.flush()
        pruned = prune(tmp_path, Bounds(max_bytes=0), now=NOW, force=True)
        assert pruned.deleted == []
        assert pruned.left_bytes > 0


def test_a_number_is_not_used_again_after_everything_is_pruned(tmp_path: Path) -> None:
    aged(tmp_path, {"a": 1}, taken="a")
    prune(tmp_path, Bounds(max_bytes=0), now=NOW)
    with CaptureWriter(tmp_path, "a") as writer:
        assert writer.next_sequence == 6


def test_a_keeper_makes_room_out_of_what_was_taken(tmp_path: Path) -> None:
    aged(tmp_path, {"a": 1}, taken="a")
    keeper = Keeper(tmp_path, "a", Bounds(max_bytes=sizes(tmp_path) + 10), clock=lambda: NOW)
    keeper.admit(10)
    assert left(tmp_path) == "a"
    keeper.admit(11)
    assert left(tmp_path) == ""
    assert keeper.size == 0


def test_a_full_quota_is_a_sentence_and_costs_nothing_that_was_not_taken(tmp_path: Path) -> None:
    made = aged(tmp_path, {"a": 1, "b": 1})
    most = sum(one.size for one in kept(tmp_path, ["a"])) + 10
    now = [NOW]
    keeper = Keeper(tmp_path, "a", Bounds(max_bytes=most), clock=lambda: now[0])
    with pytest.raises(QuotaError, match="run the pipeline, or raise capture_max_bytes"):
        keeper.admit(11)
    assert left(tmp_path) == "ab"
    put_receipt(tmp_path, "tables", {one.name: 3 for one in made.values()})
    with pytest.raises(QuotaError):
        keeper.admit(11)  # who sends much does not have the folder listed all the time
    now[0] += FULL_SECONDS
    keeper.admit(11)
    assert left(tmp_path) == "b", "other nodes' captures are not this node's to delete"


def test_a_keeper_looks_for_old_captures_now_and_then(tmp_path: Path) -> None:
    aged(tmp_path, {"a": 1}, taken="a")
    now = [NOW]
    keeper = Keeper(tmp_path, "a", Bounds(max_age=1.5 * DAY), clock=lambda: now[0])
    assert keeper.is_due()
    keeper.sweep()
    assert left(tmp_path) == "a"
    assert not keeper.is_due()
    now[0] += DAY
    assert keeper.is_due()
    keeper.admit(1_000_000)
    assert left(tmp_path) == ""
    now[0] -= 9 * DAY
    assert keeper.is_due(), "a clock that was set back does not stop it"


def test_without_bounds_everything_stays(tmp_path: Path) -> None:
    aged(tmp_path, {"a": 9_999}, taken="a")
    keeper = Keeper(tmp_path, "a", Bounds(), clock=lambda: NOW)
    keeper.admit(1 << 60)
    assert left(tmp_path) == "a"
