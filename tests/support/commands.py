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
            more = command.text, command.outcome, command.whole
            sends = zip(command.lines, command.raws, strict=True)
            single += [Send(line, raw, *more) for line, raw in sends]
        else:
            single.append(command)
    return single
