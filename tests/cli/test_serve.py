"""`wireloom serve` as a process: ready, ended, killed, refused."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest
import uvloop
from click.testing import CliRunner
from websockets.exceptions import ConnectionClosed

from live.speakers import HubSpeaker, at_hub
from wireloom.cli.main import wireloom
from wireloom.live.endpoints import all_endpoints

ADA, BOB = "@(a/ada)", "@(b/bob)"
EPHEMERAL = [
    "--signalhub-listen=127.0.0.1:0",
    "--cthun-listen=127.0.0.1:0",
    "--uep12-listen=127.0.0.1:0",
    "--metrics-listen=127.0.0.1:0",
]


class Server:
    """A running `wireloom serve`."""

    def __init__(self, process: subprocess.Popen[str], ready: Path) -> None:
        self.process = process
        self.lines = ready.read_text().splitlines()
        self.hub = next(line for line in self.lines if line.startswith("signalhub ")).split()[1]

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err


@contextmanager
def serving(folder: Path, *options: str, before: Sequence[str] = ()) -> Iterator[Server]:
    ready = folder / "ready"
    ready.unlink(missing_ok=True)
    command = [*before, sys.executable, "-c", "from wireloom.cli.main import main; main()", "serve"]
    command += [*EPHEMERAL, f"--data={folder / 'data'}", f"--ready-file={ready}", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        end = monotonic() + 20
        while not ready.exists():
            assert process.poll() is None, process.communicate()[1]
            assert monotonic() < end
            sleep(0.02)
        yield Server(process, ready)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_line_an_endpoint_and_an_end_in_good_order(tmp_path: Path, number: int) -> None:
    with serving(tmp_path) as server:
        status, out, err = server.end(number)
    assert (status, err) == (0, "")
    assert out.splitlines() == server.lines
    assert [line.split()[0] for line in server.lines] == ["signalhub", "cthun", "uep12", "metrics"]


def test_there_is_an_option_for_every_endpoint() -> None:
    shown = " ".join(CliRunner().invoke(wireloom, ["serve", "--help"]).stdout.split())
    assert (
        "Serve the Signal Hub, the Cthun broker and the UEP-12 peer, and capture every frame."
        in shown
    )
    assert "signalhub.listen is WIRELOOM_SIGNALHUB_LISTEN." in shown
    for endpoint in all_endpoints():
        assert f"--{endpoint.name}-listen ADDRESS Where {endpoint.title} listens." in shown


async def _queue(ada: HubSpeaker, acknowledged: list[int]) -> None:
    """Sends to someone who is away until the hub is gone."""
    number = 0
    try:
        while True:
            if (await ada.send(BOB, number))["status"] == "queued":
                acknowledged.append(number)
            number += 1
    except (ConnectionClosed, OSError):
        pass


def test_what_was_acknowledged_outlives_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LINE", "ACTOR"):
        rate = "{count = 1000000, per_ms = 1}"
        monkeypatch.setenv(f"WIRELOOM_SIGNALHUB_LIMITS_{name}_RATE", rate)
    monkeypatch.setenv("WIRELOOM_SIGNALHUB_LIMITS_MAX_QUEUED", "100000")
    acknowledged: list[int] = []
    with serving(tmp_path) as server:

        async def before() -> None:
            async with at_hub(server.hub, BOB) as bob:
                await bob.register()
            async with at_hub(server.hub, ADA) as ada:
                asyncio.get_running_loop().call_later(0.3, server.process.kill)
                await _queue(ada, acknowledged)

        uvloop.run(before())
        server.process.wait(10)
    assert acknowledged
    heard: list[int] = []
    with serving(tmp_path) as server:

        async def after() -> None:
            async with at_hub(server.hub, BOB) as bob:
                while not heard or heard[-1] < acknowledged[-1]:
                    heard.append((await bob.hear("chat:line"))["payload"])

        uvloop.run(asyncio.wait_for(after(), 20))
    assert heard[: len(acknowledged)] == acknowledged


@pytest.mark.parametrize(
    ("options", "status", "told"),
    [
        (["--signalhub-listen=0.0.0.0:1"], 2, "signalhub has no TLS"),
        (["--config=missing.toml"], 2, "missing.toml cannot be read"),
        (["--signalhub-listen=1"], 2, "is no address"),
        (["--ready-file=missing/ready"], 1, "missing/ready cannot be written"),
        (["--name="], 1, "frames cannot be captured"),
        (["--frobnicate"], 2, "No such option"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_a_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], status: int, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("wireloom.cli.serve.prepare", lambda: None)
    result = CliRunner().invoke(wireloom, ["serve", *EPHEMERAL, *options])
    assert result.exit_code == status
    assert told in result.stderr


def test_a_port_in_use_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wireloom.cli.serve.prepare", lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        options = [*EPHEMERAL, f"--cthun-listen={where}", f"--data={tmp_path}", "--no-capture"]
        result = CliRunner().invoke(wireloom, ["serve", *options])
    assert result.exit_code == 1
    assert result.stderr == f"Error: cthun cannot listen on {where}: the port is in use\n"
    assert not (tmp_path / "captures").exists()


def test_being_insecure_takes_a_word(tmp_path: Path) -> None:
    with serving(tmp_path, "--insecure-listen", "--signalhub-listen=0.0.0.0:0") as server:
        assert server.hub.startswith("ws://0.0.0.0:")


def _upgrade(hub: str, **fields: str) -> bytes:
    """Asks for a WebSocket; gives the first line of the answer."""
    host, port = hub.split("/")[2].split(":")
    lines = ["GET /hub HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade"]
    lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    with socket.create_connection((host, int(port)), timeout=10) as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode())
        return line.recv(1_000).split(b"\r\n")[0]


def test_logins_and_refused_origins_are_told(tmp_path: Path) -> None:
    async def log_in(hub: str) -> None:
        async with at_hub(hub, ADA):
            pass

    with serving(tmp_path, "--log-format=json") as server:
        uvloop.run(log_in(server.hub))
        assert b" 403 " in _upgrade(server.hub, Origin="https://evil.example")
        _, _, err = server.end()
    told = [json.loads(line) for line in err.splitlines()]
    login = next(one for one in told if one["event"] == "login")
    assert (login["protocol"], login["name"]) == ("signalhub", ADA)
    refused = next(one for one in told if one["event"] == "refused")
    assert refused["who"] == "https://evil.example"
    assert refused["why"].startswith("403: ")


def test_with_few_files_it_serves_those_who_are_there_and_stays_calm(tmp_path: Path) -> None:
    with serving(tmp_path, before=("prlimit", "--nofile=100:100")) as server:
        _crowd(server)


def _crowd(server: Server) -> None:
    """Opens more connections than there are files."""

    async def talk() -> None:
        async with at_hub(server.hub, ADA) as ada:
            crowd = [await asyncio.open_connection(host, int(port)) for _ in range(200)]
            before = _processor_seconds(server.process.pid)
            await asyncio.sleep(2)
            assert _processor_seconds(server.process.pid) - before < 1
            await ada.register()
            for _, writer in crowd:
                writer.close()
            await asyncio.sleep(0.1)
            async with at_hub(server.hub, BOB) as bob:
                await bob.register()

    host, port = server.hub.split("/")[2].split(":")
    uvloop.run(talk())
    status, _, err = server.end()
    assert status == 0
    assert len(err) < 50_000
    assert "Traceback" not in err


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
