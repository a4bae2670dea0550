"""A switchboard for lines: whoever has said its name gets what is for that name."""

from collections.abc import Iterable, Mapping
from enum import Enum, auto
from typing import Final

from wireloom.wire.errors import WireError
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Admit,
    Closed,
    Conclude,
    Event,
    FrameReceived,
    FrameRefused,
    Opened,
    Send,
    Store,
    Turn,
)
from wireloom.wire.session import Line as LineNumber
from wireloom.wire.states import advance
from wireloom_protocols.tiny.codec import decode
from wireloom_protocols.tiny.constants import SWITCHBOARD
from wireloom_protocols.tiny.messages import Line
from wireloom_protocols.tiny.settings import TinySettings


class State(Enum):
    """How far a connection has come."""

    OPEN = auto()
    NAMED = auto()


class Step(Enum):
    """What leads from one state to another."""

    NAME = auto()


TRANSITIONS: Final = {State.OPEN: {Step.NAME: State.NAMED}}


class TinySession:
    """One switchboard for all its connections.

    Args:
        settings: What the operator has set.
        ids: What makes ids; a switchboard makes none.
    """

    def __init__(self, settings: TinySettings, ids: Ids) -> None:
        self.ids = ids
        self.slow: Mapping[str, int] = {}
        self._settings = settings
        self._states: dict[LineNumber, State] = {}
        self._lines: dict[str, LineNumber] = {}

    def gauges(self) -> Mapping[str, float]:
        """How many are connected, and how many of them have a name."""
        return {"connections": len(self._states), "names": len(self._lines)}

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        """Nothing is stored."""

    def handle(self, event: Event, turn: Turn) -> None:
        """Appends what is to be done about an event."""
        match event:
            case FrameReceived():
                turn.commands.append(self._on_frame(turn, event))
            case FrameRefused():
                turn.commands.append(Conclude(Outcome.REJECTED, Reason.TOO_LARGE))
            case Opened():
                self._states[event.line] = State.OPEN
            case Closed():
                del self._states[event.line]
                self._lines = {name: one for name, one in self._lines.items() if one != event.line}

    def _on_frame(self, turn: Turn, event: FrameReceived) -> Conclude:
        try:
            message = decode(event.raw)
        except WireError as error:
            return Conclude(Outcome.REJECTED, error.reason)
        assert isinstance(message, Line)
        if self._states[event.line] is State.OPEN:
            self._states[event.line] = advance(TRANSITIONS, State.OPEN, Step.NAME)
            turn.commands.append(Admit(event.line))
        self._lines[message.from_] = event.line
        if message.to == SWITCHBOARD:
            return Conclude(Outcome.ACCEPTED, None, message.from_, message.verb)
        receiver = self._lines.get(message.to)
        if receiver is None:
            reason = Reason.UNKNOWN_DESTINATION
            return Conclude(Outcome.REJECTED, reason, message.from_, message.verb)
        turn.commands.append(Send(receiver, event.raw, outcome=Outcome.FORWARDED))
        return Conclude(Outcome.FORWARDED, None, message.from_, message.verb)
