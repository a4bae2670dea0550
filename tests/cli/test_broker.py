"""`wireloom broker` against a real server process."""

import asyncio
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from cli.talking import invoke, meanwhile
from live.certificates import Authority
from live.clients.processes import Process, free_port, serving
from wireloom.live.clients.cthun import CthunClient

TYPE = "http://example.com/greeting"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with serving(tmp_path_factory.mktemp("server")) as process:
        yield process


def uri() -> str:
    return f"cth://n{uuid4().hex:.8}/agent"


@pytest.mark.parametrize("as_json", [False, True])
def test_listen_prints_a_line_a_message(server: Process, as_json: bool) -> None:
    me, other = uri(), uri()

    async def send() -> None:
        async with CthunClient(server.broker, other) as broker:
            while not await broker.inventory([me]):
                await asyncio.sleep(0.05)
            for data in (b"hello", b"\xff\x00", None, b"\x1b[2J\n"):
                await broker.send([me], TYPE, data)
            await broker.inventory()

    arguments = ["broker", "listen", f"--url={server.broker}", f"--as={me}", "--count=4"]
    result = meanwhile(send, *arguments, *(["--json"] if as_json else []))
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    if as_json:
        first = json.loads(lines[0])
        assert (first["envelope"]["sender"], first["data"]) == (other, b"hello".hex())
    else:
        start = rf"\d\d:\d\d:\d\d {re.escape(f'{other} {TYPE}')} "
        for line, data in zip(lines, ("hello", "0xff00", "", r"\\x1b\[2J\\n"), strict=True):
            assert re.fullmatch(start + data, line)
    assert result.stderr == f"{me} is associated at {server.broker}\n"


def test_send_says_who_has_got_it_and_for_whom_it_is_held(server: Process) -> None:
    me, away, url = uri(), uri(), f"--url={server.broker}"
    arguments = ["broker", "send", away, me, f"--as={me}", f"--type={TYPE}", "--ttl=0.1", url]
    expected = sorted([f"{away} held", f"{me} sent"])
    assert invoke(*arguments, "--data=x").stdout.splitlines() == expected
    report = json.loads(invoke(*arguments, "--data=-", "--json", input="x").stdout)
    assert (report["targets"], report["held"]) == (sorted([away, me]), [away])
    nobody = invoke("broker", "send", "cth://*/none", "--type=x", url)
    assert (nobody.exit_code, nobody.stdout) == (0, "")
    assert nobody.stderr == "nobody is connected whom the targets match\n"


def test_more_targets_than_one_inventory_may_ask_for(server: Process) -> None:
    uris = [f"cth://many{number}/agent" for number in range(1_001)]
    sent = invoke("broker", "send", *uris, f"--type={TYPE}", "--ttl=0.1", f"--url={server.broker}")
    assert sent.stdout.splitlines() == [f"{uri} held" for uri in sorted(uris)]


def test_inventory_prints_a_uri_a_line(server: Process) -> None:
    url, me = f"--url={server.broker}", uri()
    shown = invoke("broker", "inventory", url, f"--as={me}").stdout.splitlines()
    assert me in shown
    found = invoke("broker", "inventory", me, "--json", url, f"--as={me}").stdout
    assert json.loads(found) == {"uris": [me]}
    assert invoke("broker", "inventory", "cth://*/none", url).stdout == ""


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (["send", "cth:///server", "--type=x"], 1, "the broker refuses: Message type not handled"),
        (["send", "bob", "--type=x"], 2, "bob is no URI: a URI looks like cth://name/agent"),
        (["inventory", "cth://a\x1b/b"], 2, "cth://a\\x1b/b is no URI"),
        (["inventory", "--as=cth://*/agent"], 2, "cth://*/agent is no URI"),
        (["inventory", "--url=http://h/"], 2, "http://h/ is no address of a WebSocket: use ws"),
        (["send", "cth://a/b", "--type=a b"], 2, "the message cannot be sent: envelope.mess"),
        (["inventory", "--as=cth:///server"], 1, "the broker refuses the association"),
    ],
)
def test_failures_are_one_sentence_and_a_status(
    server: Process, arguments: list[str], status: int, text: str
) -> None:
    result = invoke("broker", *arguments, env={"WIRELOOM_BROKER_URL": server.broker})
    assert result.exit_code == status
    assert result.stderr.startswith(f"Error: {text}")
    assert result.stderr.count("\n") == 1


def test_a_broker_that_is_not_there() -> None:
    url = f"ws://127.0.0.1:{free_port()}/"
    result = invoke("broker", "inventory", f"--url={url}")
    assert result.exit_code == 3
    assert result.stderr == f"Error: nobody listens at {url}: connection refused\n"


def test_a_certificate_says_who_you_are(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "tls")
    certificate, key = authority.issue("server")
    env = {
        **os.environ,
        "WIRELOOM_CTHUN_TLS_CERTIFICATE": str(certificate),
        "WIRELOOM_CTHUN_TLS_KEY": str(key),
        "WIRELOOM_CTHUN_TLS_CLIENT_AUTHORITY": str(authority.path),
    }
    own, own_key = authority.issue("ann.example.com")
    with serving(tmp_path, env=env) as process:
        trust = ["broker", "inventory", f"--url={process.broker}", f"--ca={authority.path}"]
        shown = invoke(*trust, f"--certificate={own}", f"--key={own_key}")
        assert shown.stdout == "cth://ann.example.com/controller\n"
        nameless = invoke(*trust)
        assert nameless.exit_code == 3
        assert "no client certificate, code 4003" in nameless.stderr
