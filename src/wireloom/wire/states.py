"""States of connections and peers as tables, in the manner of h11.

A session declares an enum of states, an enum of inputs, and a table `TRANSITIONS` that says which
input leads from which state to which. A pair that is not in the table is an error of the session
itself, not of its peer: what a peer may say in a state is checked before the state advances.
"""

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

S = TypeVar("S", bound=Enum)
I = TypeVar("I", bound=Enum)  # noqa: E741 - an input


class StateError(Exception):
    """A session wanted to take a step that its table does not have."""


def advance(transitions: Mapping[S, Mapping[I, S]], state: S, step: I) -> S:
    """The state that an input leads to.

    Raises:
        StateError: If the table has no such pair.
    """
    try:
        return transitions[state][step]
    except KeyError:
        raise StateError(f"{step.name} in state {state.name}") from None
