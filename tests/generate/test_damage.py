from random import Random

import pytest

from generate.rehearsal import NOON_US, Rehearsal
from wireloom.capture.frame import Direction
from wireloom.generate.damage import damage, damaged, replay
from wireloom.generate.timeline import END_US
from wireloom.registry import NAMES, protocol
from wireloom.wire.errors import WireError
from wireloom.wire.outcome import Outcome

PULL = bytes.fromhex("792001") + bytes(8)


@pytest.mark.parametrize("name", NAMES)
def test_damage_is_always_refused_for_the_reason_that_is_told(name: str) -> None:
    rng = Random(7)
    for _ in range(50):
        raw, reason = damaged(rng, PULL * 8, name)
        with pytest.raises(WireError) as refused:
            protocol(name).codec.decode(raw)
        assert refused.value.reason is reason


def test_a_damaged_copy_is_an_extra_reception_that_is_refused() -> None:
    rehearsal = Rehearsal("uep12")
    rehearsal.scene.see(NOON_US, "n", Direction.OUT, PULL, link="udp", swarm="s", epoch_ms=5)
    damage(rehearsal.scene, NOON_US + 1)
    copy = rehearsal.frames[1]
    assert (copy.direction, copy.outcome, copy.swarm) == (Direction.IN, Outcome.REJECTED, "s")
    assert copy.reason is not None
    assert rehearsal.truth.counts()["quarantine"]["uep12"] == 1


def test_damage_after_the_end_is_not_counted() -> None:
    rehearsal = Rehearsal("uep12")
    rehearsal.scene.see(NOON_US, "n", Direction.OUT, PULL, link="udp")
    damage(rehearsal.scene, END_US + 1)
    assert rehearsal.truth.counts()["damaged"] == 0


def test_a_replay_comes_later_and_counts_as_duplicate() -> None:
    rehearsal = Rehearsal("uep12")
    replay(rehearsal.scene, NOON_US)
    assert not rehearsal.frames
    rehearsal.scene.see(NOON_US, "n", Direction.IN, PULL, link="udp", outcome=Outcome.ACCEPTED)
    replay(rehearsal.scene, NOON_US - 5)
    first, again = rehearsal.frames
    assert again.captured_at > first.captured_at
    assert (again.raw, again.node, again.outcome) == (PULL, "n", Outcome.DUPLICATE)
