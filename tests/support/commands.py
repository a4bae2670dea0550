"""What a session wants, one by one."""

from collections.abc import Iterable, Sequence

from wireloom.wire.session import Command, Event, Send, Session, Spread, Store, Turn


def commands_after(session: Session, event: Event, now_ms: int) -> list[Command]:
    """What a session wants done about an event."""
    turn = Turn(session.ids, now_ms)
    session.handle(event, turn)
    return turn.commands


def commands_at_start(session: Session, records: Iterable[Store], now_ms: int) -> list[Command]:
    """What a session wants done when it takes up what was stored."""
    turn = Turn(session.ids, now_ms)
    session.restore(records, turn)
    return turn.commands


def singly(commands: Sequence[Command]) -> list[Command]:
    """The same commands, with a `Send` for each part of a `Spread`."""
    single: list[Command] = []
    for command in commands:
        if isinstance(command, Spread):
            lines, raws, text, outcome = command.lines, command.raws, command.text, command.outcome
            sends = zip(lines, raws, strict=True)
            single += [Send(line, raw, text, outcome) for line, raw in sends]
        else:
            single.append(command)
    return single
