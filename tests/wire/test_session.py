"""Events and commands are values: small, comparable, and complete."""

from typing import get_args

from msgspec import Struct

from wireloom.wire import session
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Command, Conclude, Event, FrameReceived, Send


def test_every_event_and_command_of_the_module_is_in_the_unions() -> None:
    declared = {
        value
        for value in vars(session).values()
        if isinstance(value, type) and issubclass(value, Struct) and value is not Struct
    }
    assert declared == {*get_args(Event), *get_args(Command)}


def test_frames_are_bytes_unless_they_are_called_text() -> None:
    assert FrameReceived(1, b"x") == FrameReceived(1, b"x", text=False)
    assert Send(1, b"x").outcome is None


def test_a_conclusion_has_a_reason_only_where_it_is_given() -> None:
    assert Conclude(Outcome.ACCEPTED).reason is None
