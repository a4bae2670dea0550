"""What performing needs of a world."""

from wireloom.live.clock import SystemClock
from wireloom.performing.world import now_ms


class Noon:
    def now_ns(self) -> int:
        return 43_200_999_999_999

    def elapsed(self) -> float:
        return 0.0


def test_sessions_count_whole_milliseconds() -> None:
    assert now_ms(Noon()) == 43_200_999
    assert now_ms(SystemClock()) > 1_700_000_000_000
