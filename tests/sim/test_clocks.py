"""Clocks that are right, and clocks that are not."""

from hypothesis import given
from hypothesis import strategies as st

from wireloom.performing.world import NS_PER_MS
from wireloom.sim.clocks import SkewedClock, VirtualClock


def test_a_clock_stands_still_until_it_is_set() -> None:
    clock = VirtualClock(5)
    assert clock.now_ns() == clock.now_ns() == 5_000_000
    clock.set(2_000)
    assert (clock.now_ns(), clock.elapsed()) == (2_000_000_000, 2.0)
    assert clock.true_ns(7) == 7_000_000


def test_a_skewed_clock_is_ahead_and_gains() -> None:
    true = VirtualClock(1_000)
    clock = SkewedClock(true, skew_ms=250, drift_ppm=100)
    assert clock.now_ns() == 1_250 * NS_PER_MS
    true.set(1_000 + 3_600_000)
    assert clock.now_ns() == (1_250 + 3_600_000 + 360) * NS_PER_MS
    assert clock.elapsed() == clock.now_ns() / 1e9


@given(st.integers(-(10**6), 10**6), st.integers(-(10**5), 10**5), st.integers(0, 10**10))
def test_a_timer_is_never_early_by_a_skewed_clock(skew: int, drift: int, after_ms: int) -> None:
    true = VirtualClock(10**12)
    clock = SkewedClock(true, skew_ms=skew, drift_ppm=drift)
    due_ms = clock.now_ns() // NS_PER_MS + after_ms
    true.at_ns = clock.true_ns(due_ms)
    assert 0 <= clock.now_ns() - due_ms * NS_PER_MS <= 2
