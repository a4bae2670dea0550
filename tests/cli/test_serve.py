"""`wireloom serve` as a process: ready, ended, killed, refused."""

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest
import uvloop
from click.testing import CliRunner
from websockets.exceptions import ConnectionClosed

from live.speakers import HubSpeaker, at_hub
from wireloom.cli.main import wireloom

ADA, BOB = "@(a/ada)", "@(b/bob)"
EPHEMERAL = [
    "--signalhub-listen=127.0.0.1:0",
    "--cthun-listen=127.0.0.1:0",
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
def serving(folder: Path, *options: str) -> Iterator[Server]:
    ready = folder / "ready"
    ready.unlink(missing_ok=True)
    command = [sys.executable, "-c", "from wireloom.cli.main import main; main()", "serve"]
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
    assert [line.split()[0] for line in server.lines] == ["signalhub", "cthun", "metrics"]


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
