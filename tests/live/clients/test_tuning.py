"""What a client takes from outside."""

from wireloom.live.clients.tuning import Tuning
from wireloom.performing.world import now_ms


def test_the_defaults_come_from_the_system() -> None:
    tuning = Tuning()
    assert now_ms(tuning.clock) > 1_700_000_000_000
    assert 0 <= tuning.random() < 1
    assert (tuning.backoff.tries, tuning.dead_after_seconds) == (10, 10)
