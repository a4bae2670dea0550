"""`wireloom`: the group of all commands.

A command's module is imported when the command is called, so that `wireloom --help` and
small commands start fast.
"""

import os
import sys
from importlib import import_module
from typing import Final

import click

from wireloom import __version__

COMMANDS: Final = (
    "broker",
    "capture",
    "decode",
    "encode",
    "generate",
    "hub",
    "inspect",
    "keys",
    "pipeline",
    "report",
    "serve",
    "sql",
    "trace",
)


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"wireloom.cli.{cmd_name}").command
        return command


@click.command(cls=_Commands)
@click.version_option(__version__, prog_name="wireloom")
def wireloom() -> None:
    """Speak five message protocols and tell what happened to every message."""


def main() -> None:
    """Runs the command line; a reader that goes away early ends it quietly."""
    try:
        wireloom()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
