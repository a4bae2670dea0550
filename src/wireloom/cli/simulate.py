"""`wireloom simulate`: plays scenarios in simulated worlds."""

import click

from wireloom.cli.groups import GROUPS
from wireloom.cli.simulate_play import play
from wireloom.cli.simulate_sweep import sweep


@click.group("simulate", help=GROUPS["simulate"].help)
def command() -> None:
    """Play scenarios in simulated worlds."""


command.add_command(play)
command.add_command(sweep)
