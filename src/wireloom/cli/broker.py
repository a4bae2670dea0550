"""`wireloom broker`: a node at a Cthun broker, for people and scripts."""

import json
import sys
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import click

from wireloom.cli.clients import (
    clock,
    count_option,
    run,
    shared_options,
    show_all,
    until_stopped,
    url_option,
)
from wireloom.cli.misuse import MisuseError
from wireloom.live.clients.cthun import URL, CthunClient
from wireloom.live.clients.tls import bearer, client_context
from wireloom.protocols.cthun.constants import MAX_QUERY_COUNT, WILDCARD
from wireloom.protocols.cthun.forms import ADDRESS, TARGET
from wireloom.protocols.cthun.messages import Packet
from wireloom.wire.plain import to_plain
from wireloom.wire.visible import visible


@click.group("broker")
def command() -> None:
    """Talk to a Cthun broker.

    Exit status: 0 if all went well, 1 if the broker refuses, 2 for misuse, 3 if nobody listens or
    the connection is lost for good, 4 if no answer comes in time, 5 if one comes that cannot be
    read.
    """


def _options(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option(
            "--as",
            "uri",
            metavar="URI",
            help="Who you are, cth://<common name>/<type>.  [default: a controller]",
        ),
        url_option(URL, "WIRELOOM_BROKER_URL", "The broker."),
    ):
        function = option(function)
    return shared_options(function)


@command.command()
@click.argument("targets", nargs=-1, required=True)
@click.option("--type", "type_", required=True, help="What the data is.")
@click.option("--data", help="The message's content; a dash reads it from standard input.")
@click.option(
    "--ttl",
    type=click.FloatRange(min=0.001),
    default=5,
    show_default=True,
    help="Seconds that the broker holds it for targets that are away.",
)
@_options
def send(*, targets: tuple[str, ...], type_: str, data: str | None, **options: Any) -> None:
    """Send a message to TARGETS and print who they are, one a line, each with `sent` or `held`.

    * stands for a whole part of a target: cth://*/agent is every agent that is connected. A message
    is held for a target that is not connected after it was sent, until that comes or --ttl is over.
    """
    _check_targets(targets)
    raw = sys.stdin.buffer.read() if data == "-" else None if data is None else data.encode()

    async def work(broker: CthunClient) -> None:
        report = await broker.send_reported(targets, type_, raw, ttl_seconds=options["ttl"])
        held = await _away(broker, targets)
        if options["as_json"]:
            shown = {"id": report.id, "targets": report.targets, "held": sorted(held)}
            click.echo(json.dumps(shown))
            return
        for uri in report.targets:
            click.echo(f"{uri} {'held' if uri in held else 'sent'}")
        if not report.targets:
            click.echo("nobody is connected whom the targets match", err=True)

    run(_with_broker(options, work))


@command.command()
@click.argument("query", nargs=-1)
@_options
def inventory(*, query: tuple[str, ...], **options: Any) -> None:
    """Print the connected nodes that QUERY matches, one a line; all of them without one."""
    _check_targets(query)

    async def work(broker: CthunClient) -> None:
        uris = await broker.inventory(query or ("cth://*/*",))
        if options["as_json"]:
            click.echo(json.dumps({"uris": uris}))
        else:
            for uri in uris:
                click.echo(uri)

    run(_with_broker(options, work))


@command.command()
@count_option
@_options
def listen(*, count: int | None, **options: Any) -> None:
    """Print each message to you, until you press Ctrl-C."""

    async def work(broker: CthunClient) -> None:
        click.echo(visible(f"{broker.uri} is associated at {options['url']}"), err=True)
        show = _as_json if options["as_json"] else _as_line
        await show_all(broker.messages, broker.failures, show, count)

    run(until_stopped(_with_broker(options, work)))


async def _with_broker(
    options: dict[str, Any], work: Callable[[CthunClient], Awaitable[None]]
) -> None:
    url: str = options["url"]
    tls = None
    if url.startswith("wss:"):
        tls = client_context(options["ca"], options["certificate"], options["key"])
    uri = options["uri"] or f"cth://{_name(options['certificate'])}/controller"
    if not ADDRESS.fits(uri):
        raise MisuseError(f"{visible(uri):.80} is no URI: a URI looks like cth://name/agent")
    async with CthunClient(url, uri, tls=tls) as broker:
        await work(broker)


def _name(certificate: Path | None) -> str:
    return f"cli-{uuid.uuid4().hex:.8}" if certificate is None else bearer(certificate)


async def _away(broker: CthunClient, targets: tuple[str, ...]) -> set[str]:
    """Those of the targets that are not connected: a report does not tell, an inventory does.

    Who is connected by now has got the message, or gets it. A wildcard stands for those who are.
    """
    named = sorted({target for target in targets if WILDCARD not in target})
    away = set(named)
    for start in range(0, len(named), MAX_QUERY_COUNT):
        away -= set(await broker.inventory(named[start : start + MAX_QUERY_COUNT]))
    return away


def _check_targets(targets: tuple[str, ...]) -> None:
    for target in targets:
        if not TARGET.fits(target):
            kinds = "a URI looks like cth://name/agent, or cth://*/agent for every agent"
            raise MisuseError(f"{visible(target):.80} is no URI: {kinds}")


def _as_json(packet: Packet) -> str:
    return json.dumps(to_plain(packet))


def _as_line(packet: Packet) -> str:
    envelope = packet.envelope
    return visible(f"{clock()} {envelope.sender} {envelope.message_type} {_content(packet)}")


def _content(packet: Packet) -> str:
    """The data of an application's message: text if it is, or else its bytes in hex."""
    raw = packet.data if isinstance(packet.data, bytes) else b""
    try:
        return visible(raw.decode())
    except UnicodeDecodeError:
        return f"0x{raw.hex()}"
