"""Rates, allowances, and what leaves."""

from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from wireloom.protocols.signalhub.hub.limits import Allowances, Meter
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.rates import Bucket, Rate


def test_a_bucket_gives_all_its_tokens_at_once_and_then_one_by_one() -> None:
    bucket = Bucket.of(Rate(3, 3_000))
    assert [bucket.take(5_000) for _ in range(4)] == [0, 0, 0, 1_000]
    assert bucket.take(5_999) == 1
    assert bucket.take(6_000) == 0
    assert bucket.take(6_000) == 1_000


def test_a_bucket_never_holds_more_than_its_count() -> None:
    bucket = Bucket.of(Rate(2, 1_000))
    bucket.take(0)
    assert [bucket.take(9_000_000) for _ in range(3)] == [0, 0, 500]


def test_a_bucket_without_a_rate_is_never_empty() -> None:
    bucket = Bucket.of(None)
    assert not any(bucket.take(1) for _ in range(1_000))


@given(
    count=st.integers(1, 50),
    per_ms=st.integers(1, 5_000),
    steps=st.lists(st.integers(0, 300), max_size=200),
)
def test_no_window_sees_more_than_twice_the_count(
    count: int, per_ms: int, steps: list[int]
) -> None:
    bucket = Bucket.of(Rate(count, per_ms))
    now, taken = 1_000, []
    for step in steps:
        now += step
        if not bucket.take(now):
            taken.append(now)
    for start in taken:
        assert sum(start <= one < start + per_ms for one in taken) <= 2 * count


@given(wait=st.integers(0, 5_000))
def test_after_the_wait_that_was_named_there_is_a_token(wait: int) -> None:
    bucket = Bucket.of(Rate(7, 3_000))
    for _ in range(7):
        bucket.take(wait)
    named = ceil(bucket.take(wait))
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


def test_a_budget_is_spent_and_fills_again() -> None:
    budget = Bucket(1_000, 4)
    assert round(budget.left(100)) == 1_000
    assert not budget.take(100, 600)
    assert budget.take(100, 600)
    assert round(budget.left(100)) == 400
    assert not budget.take(100, 400)
    assert round(budget.left(100)) == 0
    assert round(budget.left(102)) == 500
    budget.spend(104, 2_000)
    assert budget.left(104) < 0
    assert round(budget.left(108)) == 0
    assert round(budget.left(112)) == 1_000
    assert budget.take(200, 1_001)


def test_a_meter_tells_the_rate_of_the_last_span() -> None:
    meter = Meter()
    meter.add(0, 10_000)
    meter.add(5, 10_500)
    assert meter.per_second == 0
    meter.add(10, 12_000)
    assert meter.per_second == 2.5
    meter.add(0, 13_000)
    assert meter.per_second == 10
