"""`wireloom serve`: the servers of one node, until a signal ends them."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import click

from wireloom.cli.misuse import MisuseError
from wireloom.live.endpoints import all_endpoints
from wireloom.live.journal import Style, configure
from wireloom.live.process import leave, prepare

LISTEN: Final = {
    (*place.keys, "listen"): endpoint.title
    for endpoint in all_endpoints()
    for place in endpoint.places()
}
"""The keys that say where endpoints listen, and whose they are."""

EXAMPLE: Final = next(iter(LISTEN))
*_OTHERS, _LAST = dict.fromkeys(LISTEN.values())
HELP: Final = f"""Serve {", ".join(_OTHERS)} and {_LAST}, and capture every frame.

Without a configuration all endpoints listen on this machine only, and nobody has to log in.
An empty ADDRESS turns an endpoint off. Every key of the configuration is also an environment
variable: {".".join(EXAMPLE)} is WIRELOOM_{"_".join(EXAMPLE).upper()}.

Exit status: 0 after SIGTERM or SIGINT, 1 if something failed, 2 for a wrong configuration.
"""


def _listen_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command an option for every link that can listen."""
    for keys, title in reversed(LISTEN.items()):
        option = click.option(
            f"--{'-'.join(keys)}",
            _parameter(keys),
            metavar="ADDRESS",
            help=f"Where {title} listens.",
        )
        command = option(command)
    return command


def _parameter(keys: tuple[str, ...]) -> str:
    return "_".join(keys)


@click.command("serve", help=HELP)
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="WIRELOOM_CONFIG",
    help="What to serve and how, TOML.",
)
@click.option("--data", metavar="DIR", help="Where captures and the store lie.")
@click.option("--name", help="The node's name in captures.  [default: the host's]")
@_listen_options
@click.option("--metrics-listen", metavar="ADDRESS", help="Where /metrics and /healthz are.")
@click.option("--no-capture", is_flag=True, help="Capture no frames.")
@click.option(
    "--insecure-listen",
    is_flag=True,
    help="Let endpoints listen beyond this machine without authentication and TLS.",
)
@click.option(
    "--ready-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the endpoints here once all of them listen.",
)
@click.option(
    "--log-format",
    type=click.Choice([style.value for style in Style]),
    default=Style.TEXT.value,
    show_default=True,
    help="Format of the log on standard error.",
)
def command(
    config: Path | None, ready_file: Path | None, log_format: str, **options: str | bool | None
) -> None:
    """Serves all endpoints of a node."""
    import uvloop

    from wireloom.live.config import load
    from wireloom.live.errors import ConfigError, NodeError
    from wireloom.live.node import Node

    configure(Style(log_format), sys.stderr)
    try:
        loaded = load(config, os.environ, _by_key(options))
        prepare()
        node = Node(loaded)
        uvloop.run(node.run(lambda lines: _tell(lines, ready_file)))
    except ConfigError as error:
        raise MisuseError(str(error)) from None
    except NodeError as error:
        raise click.ClickException(str(error)) from None
    if node.is_shipping:
        leave()


def _by_key(options: dict[str, str | bool | None]) -> dict[tuple[str, ...], object]:
    """Options by the keys that they set; flags that were not given set nothing."""
    return {
        ("node", "data"): options["data"],
        ("node", "name"): options["name"],
        ("node", "metrics"): options["metrics_listen"],
        ("node", "capture"): False if options["no_capture"] else None,
        ("node", "insecure_listen"): options["insecure_listen"] or None,
        **{keys: options[_parameter(keys)] for keys in LISTEN},
    }


def _tell(lines: Sequence[str], ready_file: Path | None) -> None:
    """Says where everything is: to people, and to scripts in one step."""
    from wireloom.live.errors import NodeError

    for line in lines:
        click.echo(line)
    if ready_file is not None:
        made = ready_file.with_name(f"{ready_file.name}.new")
        try:
            made.write_text("".join(f"{line}\n" for line in lines))
            made.rename(ready_file)
        except OSError as error:
            raise NodeError(f"{ready_file} cannot be written: {error.strerror}") from None
