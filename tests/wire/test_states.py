from enum import Enum, auto

import pytest

from wireloom.wire.states import StateError, advance


class Door(Enum):
    OPEN = auto()
    SHUT = auto()


class Step(Enum):
    PUSH = auto()


TRANSITIONS = {Door.OPEN: {Step.PUSH: Door.SHUT}}


def test_an_input_leads_to_the_state_in_the_table() -> None:
    assert advance(TRANSITIONS, Door.OPEN, Step.PUSH) is Door.SHUT


def test_a_pair_that_is_not_in_the_table_is_an_error() -> None:
    with pytest.raises(StateError, match="PUSH in state SHUT"):
        advance(TRANSITIONS, Door.SHUT, Step.PUSH)
