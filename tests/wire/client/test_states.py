"""The states of a client's connection are a table."""

import pytest

from wireloom.wire.client.states import TRANSITIONS, State, Step
from wireloom.wire.states import StateError, advance


def test_every_state_has_its_row_and_leads_back_to_closed() -> None:
    assert set(TRANSITIONS) == set(State)
    for state in set(State) - {State.CLOSED}:
        assert advance(TRANSITIONS, state, Step.ENDED) is State.CLOSED


def test_a_way_through_all_states() -> None:
    state = State.CLOSED
    steps = (Step.OPEN, Step.CONNECTED, Step.ACCEPTED, Step.RESTORED, Step.LOST, Step.RETRY)
    seen = [state := advance(TRANSITIONS, state, step) for step in steps]
    assert seen == [
        State.DIALLING,
        State.GREETING,
        State.RESTORING,
        State.UP,
        State.RESTING,
        State.DIALLING,
    ]


@pytest.mark.parametrize("step", [step for step in Step if step is not Step.OPEN])
def test_a_closed_client_can_only_be_opened(step: Step) -> None:
    with pytest.raises(StateError):
        advance(TRANSITIONS, State.CLOSED, step)
