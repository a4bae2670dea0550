"""A session that is watched while it runs: it notices nothing of that."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from wireloom.wire.outcome import Outcome
from wireloom.wire.session import (
    Command,
    Compose,
    Conclude,
    Event,
    FrameReceived,
    Send,
    Session,
    Spread,
    Store,
    Turn,
)


class Witness(Protocol):
    """Takes note of what a node captures."""

    def heard(self, raw: bytes, conclusion: Conclude, /) -> None:
        """A frame came in, and this became of it."""
        ...

    def composed(self, raw: bytes, /) -> None:
        """A frame was composed for a peer that is not there."""
        ...


class Watched:
    """Passes everything on, and looks at the outcomes of frames.

    Args:
        session: The session.
        broken: Told in words of a frame that has not exactly one outcome.
        witness: Takes note of what is captured, if anything is.
        says: Takes note of what is sent, and when, if anybody asks.
    """

    def __init__(
        self,
        session: Session,
        broken: Callable[[str], None],
        witness: Witness | None = None,
        says: Callable[[bytes, int], None] | None = None,
    ) -> None:
        self.session = session
        self.ids = session.ids
        self.slow: Mapping[str, int] = session.slow
        self.gauges = session.gauges
        self.restore: Callable[[Iterable[Store], Turn], None] = session.restore
        self._broken = broken
        self._witness = witness
        self._says = says

    def handle(self, event: Event, turn: Turn) -> None:
        """Appends what is to be done about an event."""
        self.session.handle(event, turn)
        commands = turn.commands
        count = sum(type(command) is Conclude for command in commands)
        if self._witness is not None:
            _testify(self._witness, event, commands)
        if self._says is not None:
            for raw in _sent(commands):
                self._says(raw, turn.now_ms)
        if type(event) is not FrameReceived:
            if count:
                self._broken(f"{type(event).__name__} has {count} outcomes")
            return
        last = commands[-1] if commands else None
        if count != 1 or type(last) is not Conclude:
            self._broken(f"a frame has {count} outcomes, and its last command is {last!r:.80}")
        elif (last.reason is None) == (last.outcome is Outcome.REJECTED):
            self._broken(f"a frame is {last.outcome} for the reason {last.reason}")


def _testify(witness: Witness, event: Event, commands: Sequence[Command]) -> None:
    last = commands[-1] if commands else None
    if type(event) is FrameReceived and type(last) is Conclude:
        witness.heard(event.raw if last.whole is None else last.whole, last)
    for command in commands:
        if type(command) is Compose:
            witness.composed(command.raw)


def _sent(commands: Iterable[Command]) -> Iterator[bytes]:
    """What is sent, each frame once, to however many."""
    for command in commands:
        if type(command) is Send:
            yield command.raw
        elif type(command) is Spread:
            yield from dict.fromkeys(command.raws)
