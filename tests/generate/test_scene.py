import re
from collections.abc import Sequence

from generate.rehearsal import NOON_US, Rehearsal
from wireloom.capture.frame import Direction
from wireloom.generate.scene import Conversations, Kind
from wireloom.generate.timeline import END_US
from wireloom.wire.outcome import Outcome, Reason


class Duet(Conversations):
    """Two kinds, of which one weighs nothing."""

    protocol = "dtn"

    def kinds(self) -> Sequence[Kind]:
        self.held: list[str] = []
        return ((1, lambda at: self.held.append("a")), (0, lambda at: self.held.append("b")))

    def opening(self, at: int) -> None:
        raise NotImplementedError

    def forge(self, at: int) -> None:
        raise NotImplementedError


def test_every_kind_has_its_turn_before_weights_count() -> None:
    duet = Duet(Rehearsal("dtn").scene)
    for _ in range(6):
        duet.converse(NOON_US)
    assert duet.held == ["a", "b", "a", "a", "a", "a"]


def test_what_is_seen_is_captured_counted_and_kept_for_damage() -> None:
    rehearsal = Rehearsal("dtn")
    scene = rehearsal.scene
    assert scene.see(NOON_US, "n", Direction.IN, b"x", link="l")
    assert not scene.see(END_US + 1, "n", Direction.IN, b"x", link="l")
    rejected = {"outcome": Outcome.REJECTED, "reason": Reason.STALE}
    assert scene.see(NOON_US, "n", Direction.IN, b"y", link="l", **rejected)
    assert scene.count == len(rehearsal.frames) == 2
    assert [frame.raw for frame in scene.recent] == [b"x"]
    assert rehearsal.truth.counts()["captured"] == 2


def test_most_forged_frames_are_refused_and_some_are_let_through() -> None:
    scene = Rehearsal("dtn").scene
    outcomes = [scene.judged(Reason.BAD_SIGNATURE)["outcome"] for _ in range(200)]
    assert 100 < outcomes.count(Outcome.REJECTED) < 200


def test_the_same_seed_gives_the_same_chance() -> None:
    one, same, other = (Rehearsal("dtn", seed).scene for seed in ("1", "1", "2"))
    assert one.uuid() == same.uuid() != other.uuid()
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}", one.uuid()
    )
    assert NOON_US + 5 <= one.after(NOON_US, 5, 7) <= NOON_US + 7
