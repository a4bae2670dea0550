"""The alarm rings at the earliest time that it was set to, and once."""

import asyncio

import pytest
import uvloop

from wireloom.live import alarm
from wireloom.live.alarm import Alarm


def ring_times(*set_to: int | None, cancelled: bool = False, seconds: float = 0.15) -> int:
    """How often it rings within a time, set at 1,000 ms to each of these."""
    rung = 0

    def ring() -> None:
        nonlocal rung
        rung += 1

    async def main() -> None:
        one = Alarm(ring)
        for at_ms in set_to:
            one.set(at_ms, 1_000)
        if cancelled:
            one.cancel()
        await asyncio.sleep(seconds)
        one.cancel()

    uvloop.run(main())
    return rung


def test_it_rings_once_at_the_earliest_time() -> None:
    assert ring_times(1_010) == 1
    assert ring_times(61_000, 1_010) == 1
    assert ring_times(1_010, 61_000) == 1
    assert ring_times(500) == 1  # that was before now


def test_it_does_not_ring_for_nothing() -> None:
    assert ring_times() == 0
    assert ring_times(None) == 0
    assert ring_times(61_000) == 0
    assert ring_times(1_010, cancelled=True) == 0


def test_it_does_not_sleep_through_a_change_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alarm, "MAX_SLEEP_MS", 20)
    assert ring_times(900_000) == 1
