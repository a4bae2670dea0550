"""The last frames."""

from wireloom.sim.recent import MAX_FRAMES, Recent


def test_the_last_frames_of_some_machines_are_told_in_the_order_of_their_arrival() -> None:
    recent = Recent()
    for _ in range(MAX_FRAMES):
        recent.note((0, "x", "y", b"old"))
    for at_ns, near, far in ((3, "a", "b"), (2, "b", "a"), (1, "c", "d"), (4, "d", "b")):
        recent.note((at_ns, near, far, b""))
    assert [one[:3] for one in recent.of({"b"}, 2)] == [(3, "a", "b"), (4, "d", "b")]
    assert len(recent.of({"y"}, 10**6)) == MAX_FRAMES - 4
