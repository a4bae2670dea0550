"""How far a peer has been asked."""

from wireloom.protocols.uep12.peer.sweep import Sweep


def test_at_first_nothing_is_asked() -> None:
    sweep = Sweep()
    assert (sweep.ticket, sweep.is_under_way, sweep.whole_ms) == (None, False, None)
