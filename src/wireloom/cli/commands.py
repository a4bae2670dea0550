"""A group whose commands are imported when they are called.

Lists (`--help`, completion) come from a table of first lines, so that they need no import.
"""

import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from wireloom.cli.misuse import LinesError, MisuseError, one_of
from wireloom.wire.visible import visible

INTERRUPTED: Final = 128 + signal.SIGINT
"""The exit status of a command that Ctrl-C ended."""

EXTRAS: Final = {
    "deltalake": "tables",
    "duckdb": "tables",
    "pandas": "pipeline",
    "py4j": "pipeline",
    "pyspark": "pipeline",
}
"""Packages that not everyone installs, and the extra that brings them."""


class Commands(click.Group):
    """Commands by name: `members` has the first line of each one's help."""

    def __init__(self, *args: Any, members: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.members = members

    def main(self, *args: Any, **extra: Any) -> Any:
        """Runs a command and ends the process: with a sentence, never with a traceback."""
        try:
            status = super().main(*args, **{**extra, "standalone_mode": False})
        except click.ClickException as error:
            _tell(error)
            sys.exit(error.exit_code)
        except click.Abort:
            sys.exit(INTERRUPTED)
        sys.exit(status or 0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names."""
        del ctx
        return list(self.members)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, from its module."""
        del ctx
        return self.found(cmd_name) if cmd_name in self.members else None

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command; if it needs an extra that is not installed, the extra is named."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            name = ctx.invoked_subcommand
            what = f"{ctx.command_path} {name}" if name else "This"
            raise _missing(error, what, self.name) from None

    def found(self, name: str) -> click.Command:
        """The command called `name`, which is imported now."""
        command: click.Command = import_module(f"wireloom.cli.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first of `args` names."""
        name = args[0]
        if name not in self.members and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"There is no command {visible(name)!r}. {one_of(name, self.members)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(self.members.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What may stand for `incomplete`: commands, and the group's own options."""
        named = [
            CompletionItem(name, help=about)
            for name, about in self.members.items()
            if name.startswith(incomplete)
        ]
        return named + click.Command.shell_complete(self, ctx, incomplete)


class Group(Commands):
    """Commands within a command: its module is imported when one of them is called."""

    def found(self, name: str) -> click.Command:
        """The command called `name`, of the group's module."""
        group: click.Group = import_module(f"wireloom.cli.{self.name}").command
        return group.commands[name]


class GroupWithDefault(Group):
    """A group of which one command is meant wherever none is named.

    Args:
        default: The name of that command.
    """

    def __init__(self, *args: Any, default: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Names the default before words that begin with no command and ask for no help."""
        is_named = args and args[0] in (*self.members, *self.get_help_option_names(ctx))
        if not is_named and not (ctx.resilient_parsing and not args):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What may stand for `incomplete`: commands, else what the default begins with."""
        named = super().shell_complete(ctx, incomplete)
        if named:
            return named
        default = self.found(self.default)
        if incomplete.startswith("-"):
            return default.shell_complete(ctx, incomplete)
        first = next(one for one in default.params if isinstance(one, click.Argument))
        return first.shell_complete(ctx, incomplete)


def _missing(error: ModuleNotFoundError, what: str, group: str | None) -> MisuseError:
    """Names the extra that brings what is missing; another missing module is a fault of ours.

    A group that has an extra of its name needs all of it, whatever is missed first.
    """
    package = str(error.name).partition(".")[0]
    if package not in EXTRAS:
        raise error
    extra = group if group in EXTRAS.values() else EXTRAS[package]
    return MisuseError(
        f"{what} needs {package}, which is not installed. Type: pip install 'wireloom[{extra}]'"
    )


def _tell(error: click.ClickException) -> None:
    """Says what is wrong, in one line whatever an argument, a file or a server put into it."""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        click.echo(error.ctx.get_usage(), err=True)
        click.echo(f"Try '{error.ctx.command_path} -h' for help.\n", err=True)
    text = error.format_message()
    lines = text.split("\n") if isinstance(error, LinesError) else [text]
    click.echo("Error: " + "\n".join(map(visible, lines)), err=True)
