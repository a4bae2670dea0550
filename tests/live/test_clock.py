"""The system's clock."""

from time import perf_counter, time_ns

from wireloom.live.clock import SystemClock


def test_it_tells_the_systems_time() -> None:
    clock = SystemClock()
    assert time_ns() <= clock.now_ns() <= time_ns()
    assert perf_counter() <= clock.elapsed() <= perf_counter()
