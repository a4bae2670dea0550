"""Rates, allowances, and what was seen."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.protocols.signalhub.hub.limits import Allowances, Bucket, Budget, Meter, Seen
from wireloom.protocols.signalhub.hub.settings import HubSettings, Rate


def test_a_bucket_gives_all_its_tokens_at_once_and_then_one_by_one() -> None:
    bucket = Bucket(Rate(3, 3_000))
    assert [bucket.take(5_000) for _ in range(4)] == [0, 0, 0, 1_000]
    assert bucket.take(5_999) == 1
    assert bucket.take(6_000) == 0
    assert bucket.take(6_000) == 1_000


def test_a_bucket_never_holds_more_than_its_count() -> None:
    bucket = Bucket(Rate(2, 1_000))
    bucket.take(0)
    assert [bucket.take(9_000_000) for _ in range(3)] == [0, 0, 500]


def test_a_bucket_without_a_rate_is_never_empty() -> None:
    bucket = Bucket(None)
    assert not any(bucket.take(1) for _ in range(1_000))


@given(
    count=st.integers(1, 50),
    per_ms=st.integers(1, 5_000),
    steps=st.lists(st.integers(0, 300), max_size=200),
)
def test_no_window_sees_more_than_twice_the_count(
    count: int, per_ms: int, steps: list[int]
) -> None:
    bucket = Bucket(Rate(count, per_ms))
    now, taken = 1_000, []
    for step in steps:
        now += step
        if not bucket.take(now):
            taken.append(now)
    for start in taken:
        assert sum(start <= one < start + per_ms for one in taken) <= 2 * count


@given(wait=st.integers(0, 5_000))
def test_after_the_wait_that_was_named_there_is_a_token(wait: int) -> None:
    bucket = Bucket(Rate(7, 3_000))
    for _ in range(7):
        bucket.take(wait)
    named = bucket.take(wait)
    assert named > 0
    assert bucket.take(wait + named) == 0


def test_an_actor_that_comes_back_finds_its_allowance() -> None:
    allowances = Allowances(HubSettings(secret=b"s" * 16, max_lines=1))
    first = allowances.of("a")
    allowances.of("b")
    assert allowances.of("a") is first
    allowances.of("c")
    assert allowances.of("a") is first
    allowances.of("d")
    allowances.of("e")
    assert allowances.of("a") is not first


def seen(**more: int) -> Seen:
    return Seen(HubSettings(secret=b"s" * 16, **more))  # type: ignore[arg-type]


def test_an_answer_is_remembered_for_its_time_and_not_for_ever() -> None:
    memory = seen(seen_ms=60_000)
    memory.answer("a", "1", 1_000_000)
    memory.remember("a", "1", b"answer")
    assert memory.answer("a", "1", 1_059_999) == b"answer"
    assert memory.answer("b", "1", 1_059_999) is None
    assert memory.answer("a", "1", 1_060_000) == b"answer"
    assert memory.answer("a", "1", 1_120_000) is None


def test_silence_is_an_answer_too() -> None:
    memory = seen()
    memory.remember("a", "1", b"")
    assert memory.answer("a", "1", 0) == b""


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_no_more_is_remembered_than_the_limit(limit: int) -> None:
    memory = seen(seen_max=limit)
    for number in range(1_000):
        memory.remember("a", str(number), b"x")
    known = sum(memory.answer("a", str(number), 0) is not None for number in range(1_000))
    assert known <= max(1, limit)
    assert known >= limit // 2


def test_answers_are_remembered_in_so_many_bytes() -> None:
    tracemalloc.start()
    memory = seen(seen_max=1_000_000, seen_size=2_000_000)
    before = tracemalloc.get_traced_memory()[0]
    for number in range(20_000):
        memory.remember("a", f"{number:036d}", bytes(number % 2_000))
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown <= memory.size <= 2_010_000
    assert memory.answer("a", f"{19_999:036d}", 0) is not None


def test_a_budget_is_spent_and_fills_again() -> None:
    budget = Budget(1_000, 4)
    assert budget.left(100) == 1_000
    assert budget.take(600, 100)
    assert not budget.take(600, 100)
    assert budget.left(100) == 400
    assert budget.take(400, 100)
    assert budget.left(100) == 0
    assert budget.left(102) == 500
    budget.spend(2_000, 104)
    assert budget.left(104) < 0
    assert budget.left(108) == 0
    assert budget.left(112) == 1_000
    assert not budget.take(1_001, 200)


def test_a_meter_tells_the_rate_of_the_last_span() -> None:
    meter = Meter()
    meter.add(0, 10_000)
    meter.add(5, 10_500)
    assert meter.per_second == 0
    meter.add(10, 12_000)
    assert meter.per_second == 2.5
    meter.add(0, 13_000)
    assert meter.per_second == 10
