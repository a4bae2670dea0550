import pytest

from wireloom.wire.rates import Bucket, Rate


def test_all_tokens_may_be_taken_at_once_and_come_back_at_a_steady_rate() -> None:
    bucket = Bucket(4, 1_000)
    assert [bucket.take(0) for _ in range(5)] == [0, 0, 0, 0, 250]
    assert bucket.take(249) == 1
    assert bucket.take(250) == 0
    assert bucket.take(250) == 250


def test_what_is_refused_takes_nothing() -> None:
    bucket = Bucket(1, 100)
    assert bucket.take(0) == 0
    for _ in range(10):
        assert bucket.take(50) == 50
    assert bucket.take(100) == 0


def test_a_bucket_without_a_rate_is_never_empty() -> None:
    bucket = Bucket.of(None)
    assert not any(bucket.take(0) for _ in range(1_000))


def test_a_bucket_follows_from_a_rate() -> None:
    bucket = Bucket.of(Rate(2, 10))
    assert [bucket.take(0) for _ in range(3)] == [0, 0, 5]


def test_tokens_may_be_taken_by_the_number() -> None:
    bucket = Bucket(1_000, 10)
    assert bucket.take(0, 600) == 0
    assert bucket.take(0, 600) == pytest.approx(2)
    assert bucket.left(0) == pytest.approx(400)
    assert bucket.left(4) == pytest.approx(800)
    assert bucket.left(100) == 1_000


def test_more_may_be_spent_than_there_is_and_that_takes_longer_to_come_back() -> None:
    bucket = Bucket(10, 10)
    assert bucket.spend(0, 10) == 0
    assert bucket.spend(0, 5) == 5
    assert bucket.left(0) == -5
    assert bucket.take(0) == 6
    assert bucket.left(15) == 10


def test_times_may_be_seconds() -> None:
    bucket = Bucket(3, 1.5)
    assert [not bucket.take(10.0) for _ in range(4)] == [True, True, True, False]
    assert [not bucket.take(10.5) for _ in range(2)] == [True, False]
    assert [not bucket.take(100.0) for _ in range(4)] == [True, True, True, False]


def test_what_happens_anyway_is_counted_beyond_the_burst() -> None:
    bucket = Bucket(2, 2)
    for _ in range(5):
        bucket.spend(1.0)
    assert bucket.left(1.0) == -3
    assert bucket.take(3.0)
    assert bucket.left(3.0) == -1
    assert not bucket.take(5.0)
