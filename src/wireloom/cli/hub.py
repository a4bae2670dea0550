"""`wireloom hub`: an actor at a Signal Hub, for people and scripts."""

import json
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any, Final

import click
import msgspec

from wireloom.cli.clients import (
    argument_or_input,
    clock,
    count_option,
    run,
    shared_options,
    show_all,
    until_stopped,
    url_option,
)
from wireloom.cli.misuse import MisuseError
from wireloom.live.clients.errors import UnauthorizedError
from wireloom.live.clients.hub import URL, HubClient
from wireloom.live.clients.tls import client_context
from wireloom.live.secret_files import SecretFileError, shared_secret
from wireloom.protocols.signalhub import addresses, codec
from wireloom.protocols.signalhub.constants import TOKEN_ISSUER, TOKEN_MAX_AGE_S, ContentType
from wireloom.protocols.signalhub.messages import Application
from wireloom.protocols.signalhub.tokens import Claims, create
from wireloom.wire.visible import visible, visible_json

_HOUR_S: Final = 3_600


def _checked_address(
    context: click.Context, option: click.Parameter, address: str | None
) -> str | None:
    del context, option
    if address is not None and not addresses.is_address(address):
        raise MisuseError(f"{visible(address):.80}: an address looks like @(desk/bob)")
    return address


@click.group("hub")
def command() -> None:
    """Talk to a Signal Hub.

    Exit status: 0 if all went well, 1 if the hub refuses, 2 for misuse, 3 if nobody listens or the
    connection is lost for good, 4 if no answer comes in time, 5 if one comes that cannot be read.
    """


def _options(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--msgpack", is_flag=True, help="Speak MessagePack instead of JSON."),
        click.option(
            "--token-file",
            type=click.Path(path_type=Path, dir_okay=False),
            help="File with the token that proves who you are.",
        ),
        click.option(
            "--as",
            "address",
            metavar="ADDRESS",
            callback=_checked_address,
            help="Who you are, such as @(desk/bob); with a token, the token says it.",
        ),
        url_option(URL, "WIRELOOM_HUB_URL", "The hub."),
    ):
        function = option(function)
    return shared_options(function)


_payload = click.argument("payload", required=False)
_text = click.option("--text", "is_text", is_flag=True, help="PAYLOAD is text as it stands.")


@command.command()
@click.option(
    "--capability",
    "capabilities",
    multiple=True,
    default=("receive",),
    show_default=True,
    help="What others read of the actor when they discover it; repeatable.",
)
@count_option
@_options
def connect(*, capabilities: tuple[str, ...], count: int | None, **options: Any) -> None:
    """Register an actor and print each message to it, until you press Ctrl-C."""

    async def work(hub: HubClient) -> None:
        await hub.register(capabilities)
        _note(f"{hub.address} is registered at {options['url']}")
        await _listen(hub, count, as_json=options["as_json"])

    run(until_stopped(_with_hub(options, work)))


@command.command()
@click.argument("topics", nargs=-1, required=True)
@click.option(
    "--durable", is_flag=True, help="Let the hub keep the subscription when you disconnect."
)
@count_option
@_options
def subscribe(*, topics: tuple[str, ...], durable: bool, count: int | None, **options: Any) -> None:
    """Print what is published to TOPICS, each line with its topic, until you press Ctrl-C."""

    async def work(hub: HubClient) -> None:
        for topic in topics:
            await hub.subscribe(topic, durable=durable)
        _note(f"{hub.address} is subscribed to {', '.join(topics)}")
        await _listen(hub, count, as_json=options["as_json"])

    run(until_stopped(_with_hub(options, work)))


@command.command()
@click.argument("target", callback=_checked_address)
@click.argument("type_", metavar="TYPE")
@_payload
@_text
@click.option("--tell", is_flag=True, help="Do not wait for an acknowledgement.")
@click.option(
    "--ttl",
    type=click.FloatRange(min=0.001),
    default=30,
    show_default=True,
    help="Seconds that delivery may take.",
)
@click.option("--priority", type=click.IntRange(0, 2), help="0 is the most urgent.")
@_options
def send(*, target: str, type_: str, payload: str | None, is_text: bool, **options: Any) -> None:
    """Send a message of TYPE to the actor TARGET.

    PAYLOAD is JSON, a dash reads it from standard input. Prints what became of the message:
    delivered, or queued for an actor that is away.
    """
    body = _taken(payload, is_text=is_text)
    how = {"ttl_ms": int(options["ttl"] * 1_000), "priority": options["priority"]}

    async def work(hub: HubClient) -> None:
        if options["tell"]:
            _print({"messageId": await hub.tell(target, type_, body, **how)}, "sent", options)
        else:
            ack = await hub.send(target, type_, body, **how)
            _print(msgspec.to_builtins(ack), str(ack.status), options)

    run(_with_hub(options, work))


@command.command()
@click.argument("topic")
@click.argument("type_", metavar="TYPE")
@_payload
@_text
@_options
def publish(*, topic: str, type_: str, payload: str | None, is_text: bool, **options: Any) -> None:
    """Send a message of TYPE to the subscribers of TOPIC, and print how many got it.

    PAYLOAD is JSON, a dash reads it from standard input.
    """
    body = _taken(payload, is_text=is_text)

    async def work(hub: HubClient) -> None:
        done = await hub.publish(topic, type_, body)
        number = done.subscriber_count
        _print(msgspec.to_builtins(done), f"{number} subscriber{'s' * (number != 1)}", options)

    run(_with_hub(options, work))


@command.command()
@click.argument("pattern", default="*")
@click.option("--limit", type=click.IntRange(1, 100), help="Most actors to print.")
@_options
def discover(*, pattern: str, limit: int | None, **options: Any) -> None:
    """Print the registered actors whose addresses match PATTERN; * stands for anything."""

    async def work(hub: HubClient) -> None:
        found = await hub.discover(pattern, limit)
        for actor in found.actors:
            until = datetime.fromtimestamp(actor.expires_at / 1_000, UTC)
            able = ", ".join(actor.capabilities)
            line = visible(f"{actor.actor_address}  {able}  until {until:%H:%M:%S}Z")
            _print(msgspec.to_builtins(actor), line, options)
        if found.has_more:
            _note("there are more")

    run(_with_hub(options, work))


@command.command()
@_options
def stats(**options: Any) -> None:
    """Print how full the hub's queue is."""

    async def work(hub: HubClient) -> None:
        now = await hub.queue_stats()
        line = (
            f"{now.queue_depth} waiting, {now.processing_rate:,.1f} a second; pauses above "
            f"{now.pause_threshold}, resumes below {now.resume_threshold}"
        )
        _print(msgspec.to_builtins(now), line, options)

    run(_with_hub(options, work))


@command.command()
@click.option(
    "--secret-file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="File with the secret that the hub shares with you.",
)
@click.option(
    "--as",
    "address",
    metavar="ADDRESS",
    required=True,
    callback=_checked_address,
    help="Who the token is for, such as @(desk/bob).",
)
@click.option(
    "--hours",
    type=click.FloatRange(min=0, min_open=True, max=TOKEN_MAX_AGE_S / _HOUR_S),
    default=8,
    show_default=True,
    help="How long it is valid; a hub accepts none that is older than a day.",
)
def token(*, secret_file: Path, address: str, hours: float) -> None:
    """Print a token that proves to a hub who its bearer is.

    The hub takes it if its signalhub.auth.secret_file has the same secret. Whoever has the token is
    ADDRESS until it ends: keep it in a file that only you can read, and give it with --token-file.
    """
    try:
        secret = shared_secret(secret_file)
    except SecretFileError as error:
        raise MisuseError(f"{error}") from None
    made_at, path = int(time()), addresses.path(address)
    ends_at = made_at + max(1, int(hours * _HOUR_S))
    claims = Claims(sub=path, actor_id=path, iss=TOKEN_ISSUER, iat=made_at, exp=ends_at)
    try:
        click.echo(create(claims, key=secret))
    except ValueError as error:
        raise MisuseError(f"{secret_file}: {error}") from None


async def _with_hub(options: dict[str, Any], work: Callable[[HubClient], Awaitable[None]]) -> None:
    url: str = options["url"]
    tls = None
    if url.startswith("wss:"):
        tls = client_context(options["ca"], options["certificate"], options["key"])
    address = options["address"] or f"@(wireloom/cli-{uuid.uuid4().hex:.8})"
    content_type = ContentType.MSGPACK if options["msgpack"] else ContentType.JSON
    given_token = _token(options["token_file"])
    hub = HubClient(url, address, token=given_token, content_type=content_type, tls=tls)
    try:
        await hub.open()
    except UnauthorizedError as error:
        if given_token is not None or "token" not in str(error).lower():
            raise
        raise UnauthorizedError("this hub wants a token: --token-file", error.code) from None
    try:
        await work(hub)
    finally:
        await hub.close()


async def _listen(hub: HubClient, count: int | None, *, as_json: bool) -> None:
    await show_all(hub.messages, hub.failures, _as_json if as_json else _as_line, count)


def _as_json(message: Application) -> str:
    return visible_json(codec.encode(message).decode())


def _as_line(message: Application) -> str:
    payload = json.dumps(message.payload, ensure_ascii=False)
    words = [clock(), *_topic(message), message.from_, message.type, payload]
    return visible(" ".join(words))


def _topic(message: Application) -> list[str]:
    """The topic of what was published; nothing for what was sent to you alone."""
    about = message.metadata
    found = about.get("topic") if isinstance(about, dict) else None
    return [found] if isinstance(found, str) else []


def _print(document: Any, line: str, options: dict[str, Any]) -> None:
    click.echo(json.dumps(document) if options["as_json"] else line)


def _note(text: str) -> None:
    """Says something that is no result."""
    click.echo(visible(text), err=True)


def _token(path: Path | None) -> str | None:
    try:
        return None if path is None else path.read_text().strip()
    except OSError as error:
        raise MisuseError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise MisuseError(f"{path} cannot be read: a token is text") from None


def _taken(payload: str | None, *, is_text: bool) -> Any:
    text = argument_or_input(payload)
    if text is None or is_text:
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise MisuseError(f"PAYLOAD is no JSON ({error}); --text sends it as text") from None
