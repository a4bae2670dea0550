"""`wireloom`: the group of all commands, and what holds for each of them.

Ctrl-C is the way to end a command that goes on until then (`serve`, `watch`, `tail --follow` …),
with the status 0; it ends any other with the status 130. A reader that goes away, as `head` does,
ends a command without a word. Nobody sees a traceback who did not ask for one.
"""

import os
import signal
import sys
from typing import Final

import click

from wireloom import __version__
from wireloom.cli.commands import INTERRUPTED, Commands
from wireloom.cli.groups import GROUPS
from wireloom.remote import UnreachableError
from wireloom.wire.visible import visible

DEBUG: Final = "WIRELOOM_DEBUG"
"""The environment variable of those who want to see a traceback."""

COMMANDS: Final = {
    "broker": "Talk to a Cthun broker.",
    "capture": "Show, import and export captured frames.",
    "completion": "Print what makes a shell complete wireloom's commands.",
    "decode": "Decode frames to JSON lines.",
    "encode": "Encode JSON lines to frames.",
    "generate": "Write believable traffic of all five protocols.",
    "hub": "Talk to a Signal Hub.",
    "inspect": "Show one frame field by field.",
    "keys": "Make and show Ed25519 identities.",
    "pipeline": "Turn captured frames into tables, on Spark.",
    "report": "Tell what happened to every message.",
    "serve": "Serve the Signal Hub, the Cthun broker and a UEP-12 peer.",
    "simulate": "Play a scenario in a simulated world, from a seed.",
    "sql": "Answer a question in SQL from the tables.",
    "swarm": "Take part in a UEP-12 swarm.",
    "trace": "Show the life of one message, hop by hop.",
}


class Wireloom(Commands):
    """All commands, and groups of them."""

    def found(self, name: str) -> click.Command:
        """The command or group called `name`."""
        return GROUPS.get(name) or super().found(name)


@click.command(
    cls=Wireloom, members=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="wireloom")
def wireloom() -> None:
    """Speak five message protocols and tell what happened to every message."""


def main() -> None:
    """Runs the command line."""
    try:
        wireloom()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever presses it twice means once
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        click.echo(_sentence(error), err=True)
        sys.exit(1)


def _sentence(error: Exception) -> str:
    """An unexpected error as one sentence."""
    if isinstance(error, UnreachableError):
        return f"Error: {error.strerror}."
    what = visible(f"{type(error).__name__}: {error}")
    if isinstance(error, OSError):
        return f"Error: {what}. {DEBUG}=1 shows where it happened."
    return (
        f"Error: Wireloom itself failed, {what}. Please report it, with what is printed when you "
        f"run the command once more with {DEBUG}=1."
    )
