"""What machines play."""

import pytest

from sim import plays
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.sim.parts import converted
from wireloom.sim.play import Play


def test_every_life_has_a_text_of_its_own() -> None:
    play = Play(plays.hub(), 5)
    part = play.parts[1]
    first = part.boot
    play.end(part, kept=0, is_silent=False)
    play.begin(part)
    assert (first, part.boot) == ("5 client-0 1", "5 client-0 2")


def test_nothing_is_asked_of_a_machine_that_is_down() -> None:
    play = Play(plays.hub(), 5)
    part = play.parts[1]
    play.end(part, kept=0, is_silent=False)
    part.act()
    assert not play.ledger.messages


def test_settings_that_cannot_be_are_an_error_of_the_caller() -> None:
    with pytest.raises(LookupError, match=r"x\.limits: held_count must be 1 at least"):
        converted(BrokerSettings, "x", {"held_count": 0}, LookupError)
