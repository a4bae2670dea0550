"""A session for simulated machines that does what it is asked for."""

from collections.abc import Iterable, Mapping

from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import (
    Command,
    Conclude,
    Event,
    FrameReceived,
    Requested,
    Send,
    Store,
    Turn,
)


class Caller:
    """Wants what it is asked for, and notes what else it hears, and when.

    Args:
        echoes: Whether it sends back what it hears.
    """

    def __init__(self, *, echoes: bool = False) -> None:
        self.ids = Ids("caller")
        self.slow: Mapping[str, int] = {}
        self.echoes = echoes
        self.heard: list[tuple[int, Event]] = []
        self.restored: list[Store] = []

    def gauges(self) -> Mapping[str, float]:
        return {}

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        self.restored += records

    def handle(self, event: Event, turn: Turn) -> None:
        if isinstance(event, Requested):
            assert isinstance(event.request, tuple)
            turn.commands += event.request
            return
        self.heard.append((turn.now_ms, event))
        if isinstance(event, FrameReceived):
            if event.raw == b"fail":
                raise ValueError("as you like")
            if self.echoes:
                turn.commands.append(Send(event.line, event.raw, event.text))
            turn.commands.append(Conclude(Outcome.ACCEPTED, None, None, "said"))

    def asks(self, *commands: Command) -> Requested:
        """The event that has these commands performed."""
        return Requested(commands)

    def events(self) -> list[Event]:
        """What it heard so far."""
        return [event for _, event in self.heard]
