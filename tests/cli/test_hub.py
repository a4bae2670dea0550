"""`wireloom hub` against a real server process."""

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import time
from uuid import uuid4

import pytest

from cli.talking import invoke, meanwhile
from live.clients.processes import Process, free_port, serving
from wireloom.live.clients.hub import HubClient
from wireloom.protocols.signalhub import tokens


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with serving(tmp_path_factory.mktemp("server")) as process:
        yield process


def name() -> str:
    return f"@(cli/{uuid4().hex:.8})"


async def deliver(url: str, address: str, *payloads: object) -> None:
    """Sends messages to an actor as soon as it is registered."""
    async with HubClient(url, "@(test/sender)") as hub:
        while not (await hub.discover(address)).actors:
            await asyncio.sleep(0.15)
        for payload in payloads:
            await hub.send(address, "chat:line", payload)


def test_connect_prints_a_line_a_message(server: Process) -> None:
    me = name()
    result = meanwhile(
        lambda: deliver(server.hub, me, {"text": "grüße"}, "\x1b[2J"),
        *("hub", "connect", f"--url={server.hub}", f"--as={me}", "--count=2"),
    )
    assert result.exit_code == 0
    first, second = result.stdout.splitlines()
    assert re.fullmatch(r'\d\d:\d\d:\d\d @\(test/sender\) chat:line {"text": "grüße"}', first)
    assert second.endswith(r'chat:line "\u001b[2J"')
    assert result.stderr == f"{me} is registered at {server.hub}\n"


@pytest.mark.parametrize("encoding", [[], ["--msgpack"]])
def test_subscribe_prints_publications(server: Process, encoding: list[str]) -> None:
    topic = f"t/{uuid4().hex}"

    async def publish() -> None:
        async with HubClient(server.hub, "@(test/publisher)") as hub:
            while not (await hub.publish(topic, "n", [1, 2.5])).subscriber_count:
                await asyncio.sleep(0.05)

    result = meanwhile(
        publish,
        *("hub", "subscribe", topic, f"--url={server.hub}", "--count=1", "--json", *encoding),
        *(["--durable"] if encoding else []),
    )
    message = json.loads(result.stdout)
    assert (message["type"], message["payload"]) == ("n", [1, 2.5])
    assert message["metadata"]["topic"] == topic


def test_send_says_what_became_of_the_message(server: Process) -> None:
    me = name()
    url = f"--url={server.hub}"

    async def register() -> None:
        async with HubClient(server.hub, me) as hub:
            await hub.register(["x"])

    asyncio.run(register())
    assert invoke("hub", "send", me, "x", '{"a": 1}', url).stdout == "queued\n"
    sent = json.loads(invoke("hub", "send", me, "x", "-", url, "--json", input="[1]").stdout)
    assert sent["status"] == "queued"
    assert invoke("hub", "send", me, "x", "so it is", "--text", "--tell", url).stdout == "sent\n"
    told = json.loads(invoke("hub", "send", me, "x", "--tell", "--json", url).stdout)
    heard: list[object] = []

    async def listen() -> None:
        async with HubClient(server.hub, me) as hub:
            async for message in hub.messages:
                heard.append(message.payload)
                if len(heard) == 4:
                    assert isinstance(message.metadata, dict)
                    assert message.metadata["originalMessageId"] == told["messageId"]
                    return

    asyncio.run(listen())
    assert heard == [{"a": 1}, [1], "so it is", None]


def test_publish_discover_and_stats(server: Process) -> None:
    me, url = name(), f"--url={server.hub}"

    async def register() -> None:
        async with HubClient(server.hub, me) as hub:
            await hub.register(["paint", "draw"])

    asyncio.run(register())
    assert invoke("hub", "publish", "nobody/cares", "x", "1", url).stdout == "0 subscribers\n"
    line = invoke("hub", "discover", me, url).stdout
    assert re.fullmatch(re.escape(me) + r"  paint, draw  until \d\d:\d\d:\d\dZ\n", line)
    assert json.loads(invoke("hub", "discover", me, "--json", url).stdout)["actorAddress"] == me
    more = f"{me[:-1]}/more)"

    async def register_more() -> None:
        async with HubClient(server.hub, me) as hub:
            await hub.register(["x"], address=more)

    asyncio.run(register_more())
    result = invoke("hub", "discover", f"{me[:-1]}*", "--limit=1", url)
    assert (result.stdout.count("\n"), result.stderr) == (1, "there are more\n")
    assert "pauses above 1000, resumes below 500" in invoke("hub", "stats", url).stdout
    assert json.loads(invoke("hub", "stats", "--json", url).stdout)["pauseThreshold"] == 1_000


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (["send", "@(no/body)", "x"], 1, "@(no/body) is not registered"),
        (["send", "@(a)", "x", "{"], 2, "PAYLOAD is no JSON"),
        (["publish", "no topic", "x"], 2, "the message cannot be sent: payload.topic"),
        (["stats", "--as=me"], 2, "me: an address looks like @(desk/bob)"),
        (["stats", "--as=@()"], 2, "@(): an address looks like @(desk/bob)"),
        (["send", "bob\x1b[2J", "x"], 2, "bob\\x1b[2J: an address looks like @(desk/bob)"),
        (["stats", "--url=http://127.0.0.1/"], 2, "http://127.0.0.1/ is no address of a WebSocket"),
        (["stats", "--url="], 2, " is no address of a WebSocket: use ws:// or wss://"),
        (["stats", "--as=@(cloudflare/signal-hub)"], 1, "the hub does not permit connect: this a"),
        (
            ["stats", "--token-file=missing"],
            2,
            "missing cannot be read: No such file or directory\n",
        ),
    ],
)
def test_failures_are_one_sentence_and_a_status(
    server: Process, arguments: list[str], status: int, text: str
) -> None:
    result = invoke("hub", *arguments, env={"WIRELOOM_HUB_URL": server.hub})
    assert result.exit_code == status
    assert result.stderr.startswith(f"Error: {text}")
    assert result.stderr.count("\n") == 1


def test_a_hub_that_is_not_there(server: Process) -> None:
    url = f"ws://127.0.0.1:{free_port()}/hub"
    result = invoke("hub", "stats", f"--url={url}")
    assert result.exit_code == 3
    assert result.stderr == f"Error: nobody listens at {url}: connection refused\n"
    result = invoke("hub", "stats", f"--url={server.hub}/more")
    assert (result.exit_code, result.stderr.count("HTTP 404")) == (1, 1)
    result = invoke("hub", "stats", "--url=wss://127.0.0.1:1/", "--ca=missing.pem")
    assert (result.exit_code, result.stderr.count("missing.pem")) == (2, 1)


def test_a_token_says_who_you_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s" * 32)
    monkeypatch.setenv("WIRELOOM_SIGNALHUB_AUTH_SECRET_FILE", str(secret))
    claims = tokens.Claims(sub="u", actor_id="a/ada", iss="signal-hub", iat=int(time()) - 5)
    token = tmp_path / "token"
    token.write_text(tokens.create(claims, key=b"s" * 32) + "\n")
    with serving(tmp_path) as process:
        url = f"--url={process.hub}"
        assert invoke("hub", "stats", url, f"--token-file={token}").exit_code == 0
        refused = invoke("hub", "stats", url)
        assert refused.exit_code == 1
        assert refused.stderr == "Error: this hub wants a token: --token-file\n"
        token.write_text("forged")
        refused = invoke("hub", "stats", url, f"--token-file={token}")
        assert (refused.exit_code, refused.stderr.count("does not permit connect")) == (1, 1)
        made = invoke("hub", "token", f"--secret-file={secret}", "--as=@(desk/bob)", "--hours=0.5")
        token.write_text(made.stdout)
        assert invoke("hub", "stats", url, f"--token-file={token}").exit_code == 0
    claims = tokens.verify(made.stdout.strip(), now_ms=int(time() * 1_000), secrets=[b"s" * 32])
    assert (claims.actor_id, claims.sub, claims.iss) == ("desk/bob", "desk/bob", "signal-hub")
    assert isinstance(claims.exp, int)
    assert claims.exp - claims.iat == 1_800


@pytest.mark.parametrize(
    ("content", "mode", "options", "text"),
    [
        ("s" * 31, 0o600, [], "has 31 bytes, and 32 are needed"),
        ("s" * 32, 0o622, [], "can be written by others"),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI", 0o600, [], "is an asymmetric key"),
        ("s" * 32, 0o600, ["--hours=25"], "25"),
        ("s" * 32, 0o600, ["--hours=0"], "0"),
        ("s" * 32, 0o600, ["--as=bob"], "bob: an address looks like @(desk/bob)"),
    ],
)
def test_no_token_is_made_that_a_hub_would_refuse(
    tmp_path: Path, content: str, mode: int, options: list[str], text: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(content)
    secret.chmod(mode)
    result = invoke("hub", "token", f"--secret-file={secret}", "--as=@(desk/bob)", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert text in result.stderr


def test_each_publication_shows_its_topic(server: Process) -> None:
    one, two = f"t/{uuid4().hex}", f"t/{uuid4().hex}"

    async def publish() -> None:
        async with HubClient(server.hub, "@(test/publisher)") as hub:
            for topic in (one, two):
                while not (await hub.publish(topic, "n", topic[:2])).subscriber_count:
                    await asyncio.sleep(0.1)

    result = meanwhile(publish, *("hub", "subscribe", one, two, f"--url={server.hub}", "--count=2"))
    topics = [line.split(" ")[1:4] for line in result.stdout.splitlines()]
    assert topics == [[one, "@(test/publisher)", "n"], [two, "@(test/publisher)", "n"]]


def test_control_c_is_a_goodbye(server: Process) -> None:
    me = name()
    command = [sys.executable, "-c", "from wireloom.cli.main import main; main()", "hub", "connect"]
    with subprocess.Popen(
        [*command, f"--url={server.hub}", f"--as={me}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        asyncio.run(deliver(server.hub, me, 1))
        assert process.stdout is not None
        assert "chat:line 1" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
