"""How long a client waits before it connects again."""

import pytest

from wireloom.wire.client.backoff import Backoff


def test_delays_double_from_one_second_to_sixty() -> None:
    delays = [Backoff().seconds(attempt, 0.5) for attempt in range(10)]
    assert delays == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]


@pytest.mark.parametrize(("chance", "share"), [(0, 0.8), (0.25, 0.9), (1, 1.2)])
def test_chance_moves_a_delay_by_a_fifth_at_most(chance: float, share: float) -> None:
    assert Backoff().seconds(3, chance) == pytest.approx(8 * share)
