"""`HubClient` against a real server process, in both encodings."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any
from uuid import uuid4

import pytest

from live.certificates import Authority
from live.clients.processes import Process, free_port, run, serving
from wireloom.live.clients import errors
from wireloom.live.clients.hub import HubClient
from wireloom.live.clients.tls import client_context
from wireloom.live.clients.tuning import Tuning
from wireloom.protocols.signalhub import tokens
from wireloom.protocols.signalhub.constants import ContentType
from wireloom.protocols.signalhub.messages import Application
from wireloom.wire.client.backoff import Backoff

QUICK = Tuning(backoff=Backoff(first_seconds=0.05, most_seconds=0.2, tries=200), goodbye_seconds=1)
both = pytest.mark.parametrize("content_type", list(ContentType))


def name(who: str) -> str:
    """An address that no other test has: rates are the actor's."""
    return f"@({who}/{uuid4().hex:.8})"


def noted(message: Application) -> dict[str, Any]:
    assert isinstance(message.metadata, dict)
    return message.metadata


def play(
    url: str, content_type: ContentType, act: Callable[..., Awaitable[None]], *who: str
) -> None:
    """Runs an act with one client for each name."""

    async def main() -> None:
        async with AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(
                    HubClient(url, name(one), content_type=content_type, tuning=QUICK)
                )
                for one in who
            ]
            await act(*clients)

    run(main())


@both
def test_actors_register_and_find_each_other(server: Process, content_type: ContentType) -> None:
    async def act(ada: HubClient, bob: HubClient) -> None:
        made = await bob.register(["paint"], metadata={"floor": 2}, ttl_seconds=60)
        assert (made.actor_address, made.version) == (bob.address, 1)
        below = bob.address.replace(")", "/below)")
        await bob.register(["x"], address=below, renew_on_heartbeat=False)
        found = await ada.discover(bob.address[:-1] + "*")
        assert [one.actor_address for one in found.actors] == [bob.address, below]
        assert (found.actors[0].capabilities, found.actors[0].metadata) == (
            ("paint",),
            {"floor": 2},
        )
        assert (await ada.discover(bob.address[:-1] + "*", limit=1)).has_more
        page = await ada.list(limit=1)
        assert (page.total >= 2, len(page.actors), page.limit) == (True, 1, 1)
        assert (await bob.renew(below)).renewal_token
        with pytest.raises(KeyError):
            await ada.renew()
        await bob.unregister(below)
        await bob.unregister()
        await bob.queue_stats()  # after which the hub has seen to both
        assert not (await ada.discover(bob.address[:-1] + "*")).actors

    play(server.hub, content_type, act, "ada", "bob")


@both
def test_messages_reach_their_actors(server: Process, content_type: ContentType) -> None:
    payload = {"text": "grüße", "numbers": [1, 2.5, None]}

    async def act(ada: HubClient, bob: HubClient) -> None:
        await bob.register(["receive"])
        ack = await ada.send(bob.address, "chat:line", payload, priority=0)
        assert ack.status == "delivered"
        heard = await anext(bob.messages)
        assert (heard.type, heard.payload, heard.from_) == ("chat:line", payload, ada.address)
        assert noted(heard)["originalMessageId"] == ack.message_id
        told = await ada.tell(bob.address, "chat:aside", priority=2)
        heard = await anext(bob.messages)
        assert (heard.type, noted(heard)["originalMessageId"]) == ("chat:aside", told)
        with pytest.raises(errors.UnknownActorError, match=r"@\(no/body\) is not registered"):
            await ada.send("@(no/body)", "x")
        with pytest.raises(errors.UnauthorizedError, match="types of the hub are its own"):
            await ada.send(bob.address, "hub:fake")

    play(server.hub, content_type, act, "ada", "bob")


@both
def test_publications_and_broadcasts(server: Process, content_type: ContentType) -> None:
    topic, able = f"news/{uuid4().hex}", uuid4().hex

    async def act(ada: HubClient, bob: HubClient) -> None:
        made = await bob.subscribe(topic)
        assert made.topic == topic
        assert (await ada.publish(topic, "n", [1])).subscriber_count == 1
        assert noted(await anext(bob.messages))["topic"] == topic
        await bob.unsubscribe(made.subscription_id)
        await bob.queue_stats()
        assert (await ada.publish(topic, "n")).subscriber_count == 0
        await bob.register([able])
        done = await ada.broadcast("b", 1, capability=able)
        assert (done.delivered_count, done.failed_count) == (1, 0)
        assert noted(await anext(bob.messages))["broadcast"] is True
        assert (await bob.broadcast("b", 1, capability=able)).delivered_count == 0
        own = await bob.broadcast("b", 1, capability=able, exclude_self=False)
        assert own.delivered_count == 1

    play(server.hub, content_type, act, "ada", "bob")


@both
def test_errors_of_a_real_hub(server: Process, content_type: ContentType) -> None:
    async def act(ada: HubClient) -> None:
        with pytest.raises(errors.UnsendableError, match="at most 1048576 are taken"):
            await ada.send(ada.address, "x", "y" * 1_100_000)
        await ada.register(["x"])
        with pytest.raises(errors.MessageTooLargeError):
            await ada.register(["x"], address="@(a/b)", metadata={"much": "y" * 9_000})
        for _ in range(3):
            await ada.register(["x"])
        with pytest.raises(errors.RateLimitedError) as limited:
            await ada.register(["x"])
        assert limited.value.retry_after_ms > 1_000
        assert limited.value.retryable
        stats = await ada.queue_stats()
        assert (stats.pause_threshold, stats.resume_threshold) == (1_000, 500)
        assert ada.session.heartbeat_interval == 25_000

    play(server.hub, content_type, act, "ada")


def test_the_last_connection_of_an_actor_wins(server: Process) -> None:
    async def main() -> None:
        address = name("ada")
        async with (
            HubClient(server.hub, address, tuning=QUICK) as first,
            HubClient(server.hub, address, tuning=QUICK) as second,
        ):
            with pytest.raises(errors.LostError, match="duplicate_connection"):
                await anext(first.messages)
            await second.queue_stats()

    run(main())


@both
def test_a_client_outlives_its_server(tmp_path: Path, content_type: ContentType) -> None:
    port = free_port()

    async def main() -> None:
        async with AsyncExitStack() as stack:
            process = stack.enter_context(serving(tmp_path, port))
            ada, bob = [
                await stack.enter_async_context(
                    HubClient(process.hub, one, content_type=content_type, tuning=QUICK)
                )
                for one in ("@(a/ada)", "@(b/bob)")
            ]
            await bob.register(["x"])
            await bob.subscribe("durable", durable=True)
            await bob.subscribe("passing")
            process.kill()
            with pytest.raises((errors.LostError, errors.AnswerTimeoutError)):
                await ada.send(bob.address, "x", seconds=0.3)
            with pytest.raises(errors.AnswerTimeoutError):
                await ada.send(bob.address, "x", seconds=0.3)
            sending = asyncio.ensure_future(ada.send(bob.address, "chat:line", 1))
            starting = serving(tmp_path, port)
            await asyncio.to_thread(starting.__enter__)
            stack.callback(starting.__exit__, None, None, None)
            assert (await sending).status in {"delivered", "queued"}
            assert (await anext(bob.messages)).payload == 1
            for topic in ("durable", "passing"):
                assert (await ada.publish(topic, "n", topic)).subscriber_count == 1
                assert (await anext(bob.messages)).payload == topic
            await bob.renew()

    run(main(), 60)


@both
def test_tokens_and_certificates(tmp_path: Path, content_type: ContentType) -> None:
    authority = Authority(tmp_path / "tls")
    certificate, key = authority.issue("server")
    secret = tmp_path / "secret.txt"
    secret.write_text("s" * 32)
    env = {
        **os.environ,
        "WIRELOOM_SIGNALHUB_TLS_CERTIFICATE": str(certificate),
        "WIRELOOM_SIGNALHUB_TLS_KEY": str(key),
        "WIRELOOM_SIGNALHUB_AUTH_SECRET_FILE": str(secret),
    }
    claims = tokens.Claims(sub="u", actor_id="a/ada", iss="signal-hub", iat=int(time()) - 5)
    token = tokens.create(claims, key=b"s" * 32)
    tls = client_context(authority.path)

    async def main(url: str) -> None:
        assert url.startswith("wss://")
        how: dict[str, Any] = {"tls": tls, "tuning": QUICK, "content_type": content_type}
        async with HubClient(url, "@(x/y)", token=token, **how) as ada:
            assert ada.address == "@(a/ada)"
            await ada.register(["x"])
            await ada.send("@(a/ada)", "x")
            assert (await anext(ada.messages)).from_ == "@(a/ada)"
        with pytest.raises(errors.UnauthorizedError, match="does not permit connect"):
            await HubClient(url, "@(x/y)", token="forged", **how).open()
        with pytest.raises(errors.UnauthorizedError):
            await HubClient(url, "@(x/y)", **how).open()

    with serving(tmp_path, env=env) as process:
        run(main(process.hub))


def test_heartbeats_keep_a_registration_and_a_connection(tmp_path: Path) -> None:
    env = {
        **os.environ,
        "WIRELOOM_SIGNALHUB_LIMITS_HEARTBEAT_INTERVAL_MS": "100",
        "WIRELOOM_SIGNALHUB_LIMITS_SILENCE_MS": "400",
    }

    async def main(url: str) -> None:
        async with HubClient(
            url, "@(a/ada)", tuning=replace(QUICK, backoff=Backoff(tries=0))
        ) as ada:
            await asyncio.sleep(1)
            assert ada.skew_ms is not None
            assert abs(ada.skew_ms) < 1_000
            await ada.queue_stats()

    with serving(tmp_path, env=env) as process:
        run(main(process.hub))
