"""`wireloom completion`: completion with the Tab key, for shells."""

from typing import Final

import click
from click.shell_completion import get_completion_class

SHELLS: Final = ("bash", "zsh", "fish")
VARIABLE: Final = "_WIRELOOM_COMPLETE"
"""How a shell asks `wireloom` for what fits; click made the name from the command's."""


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    r"""Print what makes SHELL complete commands, options and choices.

    \b
    bash:  echo 'eval "$(wireloom completion bash)"' >> ~/.bashrc
    zsh:   echo 'eval "$(wireloom completion zsh)"' >> ~/.zshrc
    fish:  wireloom completion fish > ~/.config/fish/completions/wireloom.fish
    """
    root = ctx.find_root().command
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(root, {}, "wireloom", VARIABLE).source())
