"""`wireloom swarm`: a peer of a UEP-12 swarm, for people and scripts."""

import json
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

import click

from wireloom.cli.clients import FailedError, count_option, run, until_stopped
from wireloom.cli.misuse import MisuseError
from wireloom.live.clients.errors import UnreachableError
from wireloom.live.clients.swarm import PEER, SwarmClient
from wireloom.live.links.connection import address_of
from wireloom.protocols.uep12.constants import DEFAULT_EPOCH_MS, DEFAULT_MAX_TTL
from wireloom.protocols.uep12.peer.requests import Received
from wireloom.wire.plain import to_plain
from wireloom.wire.visible import visible

METRICS: Final = "http://127.0.0.1:9464/metrics"
TIMEOUT_SECONDS: Final = 5.0
_PEER: Final = "peer "


@click.group("swarm")
def command() -> None:
    """Take part in a UEP-12 swarm.

    `post` and `read` are small peers themselves: they join the swarm through a peer that runs.

    Exit status: 0 if all went well, 1 if a message cannot be posted, 2 for misuse, 3 if no peer or
    node answers at the address, 4 if no answer comes in time.
    """


def _checked_peer(context: click.Context, option: click.Parameter, peer: str) -> str:
    del context, option
    try:
        address_of(peer)
    except ValueError as error:
        raise MisuseError(visible(str(error))) from None
    return peer


def _joining(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line."),
        click.option(
            "--max-ttl",
            type=click.IntRange(1, 65_535),
            default=DEFAULT_MAX_TTL,
            show_default=True,
            help="How many epochs the swarm lets messages live.",
        ),
        click.option(
            "--epoch-ms",
            type=click.IntRange(min=1),
            default=DEFAULT_EPOCH_MS,
            show_default=True,
            help="The swarm's epoch.",
        ),
        click.option(
            "--peer",
            default=PEER,
            show_default=True,
            envvar="WIRELOOM_SWARM_PEER",
            callback=_checked_peer,
            help="A peer of the swarm, host:port.",
        ),
    ):
        function = option(function)
    return function


def _asking(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line."),
        click.option(
            "--metrics",
            default=METRICS,
            show_default=True,
            help="Where the node has its metrics.",
        ),
    ):
        function = option(function)
    return function


@command.command()
@click.argument("payload")
@click.option(
    "--ttl",
    type=click.IntRange(0, 65_535),
    default=60,
    show_default=True,
    help="How many epochs it lives; 0 pushes it once.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.001),
    default=60,
    show_default=True,
    help="How long to wait for the work and for a peer that has the message.",
)
@_joining
def post(*, payload: str, ttl: int, seconds: float, as_json: bool, **options: Any) -> None:
    """Post a message, wait until another peer has shown that it has it, and print its hash.

    A dash reads PAYLOAD from standard input.
    """
    raw = sys.stdin.buffer.read() if payload == "-" else payload.encode()

    async def work(swarm: SwarmClient) -> None:
        msg_hash = await swarm.post(raw, ttl_epochs=ttl, seconds=seconds)
        click.echo(json.dumps({"hash": msg_hash.hex()}) if as_json else msg_hash.hex())

    run(_with_swarm(options, work))


@command.command()
@click.option("--follow", is_flag=True, help="Go on with what is new, until you press Ctrl-C.")
@count_option
@_joining
def read(*, follow: bool, count: int | None, as_json: bool, **options: Any) -> None:
    """Print the messages of the swarm that have not expired, oldest first."""

    async def work(swarm: SwarmClient) -> None:
        left = count
        await swarm.synced()
        unread = len(swarm.messages)
        for message in swarm.flow()[:left]:
            click.echo(_shown(message, as_json=as_json))
            left = None if left is None else left - 1
        if not follow or left == 0:
            return
        async for received in swarm.messages:
            if unread:  # it is in the flow that was printed
                unread -= 1
                continue
            click.echo(_shown(received, as_json=as_json))
            left = None if left is None else left - 1
            if left == 0:
                return

    run(until_stopped(_with_swarm(options, work)))


@command.command()
@_asking
def status(*, metrics: str, as_json: bool) -> None:
    """Print, for each swarm of a node, how many messages it has, and what it misses."""
    for name, numbers in _swarms(metrics).items():
        what = {key: int(numbers.get(key, 0)) for key in ("total", "unreferred", "missing")}
        lost, is_synced = int(numbers.get("irretrievable", 0)), bool(numbers.get("synced"))
        if as_json:
            shown = {"swarm": name, **what, "irretrievable": lost, "synced": is_synced}
            click.echo(json.dumps(shown))
            continue
        lacks = [f"{what['missing']} missing"] if what["missing"] else []
        lacks += [f"{lost} irretrievable"] if lost else []
        lacks += [] if is_synced else ["not synced yet"]
        words = ", ".join(f"{value} {key}" for key, value in what.items())
        click.echo(visible(f"{name}: {words}; {', '.join(lacks) or 'synced'}"))


@command.command()
@_asking
def peers(*, metrics: str, as_json: bool) -> None:
    """Print the peers that a node speaks with, by swarm, and whether they have proven themselves.

    Of each swarm, 100 are printed.
    """
    for name, numbers in _swarms(metrics).items():
        for key, value in sorted(numbers.items()):
            if not key.startswith(_PEER):
                continue
            address, is_proven = key.removeprefix(_PEER), bool(value)
            if as_json:
                click.echo(json.dumps({"swarm": name, "peer": address, "proven": is_proven}))
            else:
                state = "proven" if is_proven else "has proven nothing"
                click.echo(visible(f"{name} {address} {state}"))


def _swarms(url: str) -> dict[str, dict[str, float]]:
    """The numbers of a node's swarms, by the swarm's name."""
    from prometheus_client.parser import text_string_to_metric_families

    if not url.startswith(("http://", "https://")):
        raise MisuseError(f"{visible(url):.80} is no address of metrics; use http://")
    try:
        with urlopen(url, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310, it is checked above
            text = answer.read().decode()
        found: dict[str, dict[str, float]] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                name, dot, what = sample.labels.get("of", "").partition(".")
                if sample.labels.get("protocol") == "uep12" and dot:
                    found.setdefault(name, {})[what] = sample.value
    except (URLError, HTTPException, OSError, ValueError) as error:
        why = f"no node tells its metrics at {url}: {error}"
        raise FailedError(UnreachableError(why)) from None
    return found


async def _with_swarm(
    options: dict[str, Any], work: Callable[[SwarmClient], Awaitable[None]]
) -> None:
    epoch_ms, max_ttl = options["epoch_ms"], options["max_ttl"]
    async with SwarmClient(options["peer"], epoch_ms=epoch_ms, max_ttl=max_ttl) as swarm:
        await work(swarm)


def _shown(received: Received, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"hash": received.msg_hash.hex(), **_plain(received)})
    at = datetime.fromtimestamp(received.content.timestamp / 1_000, UTC)
    return visible(f"{at.astimezone():%H:%M:%S} {_content(received)}")


def _plain(received: Received) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(received.content)
    return plain


def _content(received: Received) -> str:
    """The payload: text if it is, or else its bytes in hex."""
    try:
        return visible(received.content.payload.decode())
    except UnicodeDecodeError:
        return f"0x{received.content.payload.hex()}"
