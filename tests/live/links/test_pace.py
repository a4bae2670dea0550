"""Large frames: who sends too many of them is read more slowly."""

import gc

from wireloom.live.links.pace import BURST_SECONDS, Pace, Paces


def test_what_comes_at_once_may_be_so_much_and_more_waits() -> None:
    pace = Pace(16_000)
    burst = int(BURST_SECONDS * 16_000)
    assert pace.spend(5.0, burst) == 0
    assert pace.spend(5.0, 8_000) == 0.5
    assert pace.spend(5.5, 8_000) == 0.5
    assert pace.spend(99.0, burst) == 0, "who was silent has nothing to make up for"
    assert pace.spend(99.0, 16_000) == 1.0, "and has saved nothing"


def test_connections_of_one_address_share_a_pace_while_there_are_some() -> None:
    paces = Paces(1_000)
    one, two, other = paces.of("10.0.0.1"), paces.of("10.0.0.1"), paces.of("10.0.0.2")
    assert one is two
    assert other is not one
    one.spend(1.0, 5_000)
    del one, two
    gc.collect()
    assert paces.of("10.0.0.1").spend(1.0, 1) == 0
