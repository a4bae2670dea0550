"""How long a client waits before it connects again."""

import re

import pytest

from wireloom.live.clients.tuning import Tuning
from wireloom.wire.client.backoff import Backoff


def test_delays_double_from_one_second_to_sixty() -> None:
    delays = [Backoff().seconds(attempt, 0.5) for attempt in range(10)]
    assert delays == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]


@pytest.mark.parametrize(("chance", "share"), [(0, 0.8), (0.25, 0.9), (1, 1.2)])
def test_chance_moves_a_delay_by_a_fifth_at_most(chance: float, share: float) -> None:
    assert Backoff().seconds(3, chance) == pytest.approx(8 * share)


def test_the_defaults_come_from_the_system() -> None:
    tuning = Tuning()
    assert tuning.now_ms() > 1_700_000_000_000
    assert 0 <= tuning.random() < 1
    assert re.fullmatch(r"[0-9a-f-]{36}", tuning.new_id())
    assert tuning.new_id() != tuning.new_id()
    assert (tuning.backoff.tries, tuning.dead_after_seconds) == (10, 10)
