"""All commands that there are."""

from collections.abc import Iterator

import click

from wireloom.cli.main import wireloom


def commands(
    group: click.Group = wireloom, names: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    """Every command below `group` with what is typed for it: groups, then what they hold."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield " ".join((*names, name)), command
        if isinstance(command, click.Group):
            yield from commands(command, (*names, name))


ALL = dict(commands())
LEAVES = {name: found for name, found in ALL.items() if not isinstance(found, click.Group)}
"""Those that do something."""
