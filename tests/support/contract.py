"""What holds for every session after every event, whatever protocol it speaks."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from support.commands import singly
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import (
    Admit,
    Close,
    Closed,
    Command,
    Conclude,
    Event,
    Forget,
    FrameReceived,
    FrameRefused,
    Line,
    Opened,
    Send,
    Session,
    Spread,
    Store,
    Turn,
)


class Contract:
    """Holds one life of a session to the contract of `wire/session.py`.

    Args:
        stored: The records that the life began with.
    """

    def __init__(self, stored: Iterable[Store] = ()) -> None:
        self._stored = {(record.kind, record.key) for record in stored}
        self._open: set[Line] = set()

    def check(self, event: Event | None, commands: Sequence[Command]) -> None:
        """Checks what a session wants after an event, or at the start of its life."""
        if isinstance(event, Opened):
            assert event.line not in self._open
            self._open.add(event.line)
        if isinstance(event, Closed):
            self._open.discard(event.line)
        self._check_conclusion(event, commands)
        for command in commands:
            if isinstance(command, Spread):
                assert len(command.lines) == len(command.raws)
        for command in singly(commands):
            self._check_line(command)
            self._check_record(command)

    def _check_conclusion(self, event: Event | None, commands: Sequence[Command]) -> None:
        """A frame's turn ends with its one outcome; no other turn has any."""
        conclusions = [command for command in commands if isinstance(command, Conclude)]
        assert len(conclusions) == isinstance(event, FrameReceived | FrameRefused)
        for conclusion in conclusions:
            assert commands[-1] is conclusion, "the outcome of a frame is not the last command"
            assert (conclusion.reason is not None) == (conclusion.outcome is Outcome.REJECTED)

    def _check_line(self, command: Command) -> None:
        """Nothing is wanted of a line that is not there, or that the session has closed."""
        if isinstance(command, Send | Close | Admit):
            assert command.line in self._open, f"{command} is for a line that is not open"
        if isinstance(command, Close):
            self._open.remove(command.line)

    def _check_record(self, command: Command) -> None:
        """Only what is stored is forgotten."""
        if isinstance(command, Store):
            self._stored.add((command.kind, command.key))
        if isinstance(command, Forget):
            assert (command.kind, command.key) in self._stored, f"{command} is of nothing stored"
            self._stored.remove((command.kind, command.key))


class Checked:
    """A session that is held to the contract; whoever runs it does not notice.

    Args:
        session: The session.
        observe: Called with every event, None at the start of the life, and with what the session
            wants then; sends are single.
    """

    def __init__(
        self, session: Session, observe: Callable[[Event | None, Sequence[Command]], None]
    ) -> None:
        self._session = session
        self._observe = observe
        self.ids, self.slow = session.ids, session.slow
        self._contract = Contract()

    def gauges(self) -> Mapping[str, float]:
        return self._session.gauges()

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        stored = list(records)
        self._contract = Contract(stored)
        self._session.restore(stored, turn)
        self._check(None, turn.commands)

    def handle(self, event: Event, turn: Turn) -> None:
        self._session.handle(event, turn)
        self._check(event, turn.commands)

    def _check(self, event: Event | None, commands: Sequence[Command]) -> None:
        self._contract.check(event, commands)
        self._observe(event, singly(commands))
