"""What a session wants, one by one."""

from collections.abc import Sequence

from wireloom.wire.session import Command, Send, Spread


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
