"""README and quickstart: what they tell people to type works as printed, in an empty folder."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from live.certificates import Authority
from live.clients.processes import free_port, serving
from wireloom.wire.outcome import Reason

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/quickstart.md")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SET_UP = ("make ", ". .venv/bin/activate")
PIPELINE = "wireloom pipeline run"
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
SERVE = "wireloom serve --data live"


def blocks(page: str, kind: str) -> list[str]:
    found = BLOCK.findall((ROOT / page).read_text())
    return [text for language, text in found if language == kind]


def commands(page: str) -> list[str]:
    """What to type in a shell, without the comments, but for the set-up of the repository."""
    lines = [
        line.partition("  #")[0].rstrip()
        for text in blocks(page, "sh")
        for line in text.splitlines()
    ]
    return [line for line in lines if line and not line.startswith(SET_UP)]


def typed(lines: list[str], folder: Path, **environment: str) -> str:
    """What commands print, one after the other in one shell."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        cwd=folder,
        env=os.environ | {"PATH": PATH, "COLUMNS": "100"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def split(page: str) -> tuple[list[str], list[str], list[str]]:
    """Commands before the pipeline, from it on, and those that follow `serve`."""
    lines = commands(page)
    pipeline, serve = lines.index(PIPELINE), lines.index(SERVE)
    return lines[:pipeline], lines[pipeline:serve], lines[serve + 1 :]


@pytest.mark.parametrize("page", PAGES)
def test_frames_are_made_exported_and_imported_as_printed(page: str, tmp_path: Path) -> None:
    before, _, _ = split(page)
    assert "taken 2,0" in typed(before, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "elsewhere",
        "frames.jsonl",
        "wireloom-data",
    }


@pytest.mark.spark
def test_the_walk_from_frames_to_answers_works_as_printed(tmp_path: Path) -> None:
    before, answers, _ = map(list, zip(*map(split, PAGES), strict=True))
    assert answers[0] == answers[1], "both pages walk the same way"
    shown = typed(before[0] + answers[0], tmp_path)
    assert "The books" in shown
    assert "proves what became of it" in shown or "lost" in shown
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize("page", PAGES)
def test_the_servers_and_what_follows_them_work_as_printed(page: str, tmp_path: Path) -> None:
    _, _, after = split(page)
    ports = [free_port() for _ in range(3)]
    hub, broker, metrics = (f"127.0.0.1:{port}" for port in ports)
    places = {
        "WIRELOOM_SIGNALHUB_LISTEN": hub,
        "WIRELOOM_CTHUN_LISTEN": broker,
        "WIRELOOM_NODE_METRICS": metrics,
    }
    environment = {"WIRELOOM_HUB_URL": f"ws://{hub}/hub"}
    with beside(SERVE, tmp_path, places):
        until(f"exec 3<>/dev/tcp/127.0.0.1/{ports[0]}", tmp_path)
        if after:
            connect, send, *rest = after
            with beside(connect, tmp_path, environment) as connected:
                until("wireloom hub discover '@(desk/bob)' | grep bob", tmp_path, **environment)
                assert "delivered" in typed([send], tmp_path, **environment)
                assert "hello" in str(connected.stdout and connected.stdout.readline())
            typed(rest, tmp_path)
    assert (tmp_path / "live" / "captures").is_dir()


@contextmanager
def beside(
    command: str, folder: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[str]]:
    """A command in another terminal, until Ctrl-C."""
    with subprocess.Popen(
        shlex.split(command),
        cwd=folder,
        env=os.environ | {"PATH": PATH} | environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            yield running
        finally:
            running.send_signal(signal.SIGINT)
            assert running.wait(60) == 0


def until(command: str, folder: Path, **environment: str) -> None:
    """Waits for a command to succeed."""
    again = f"for n in $(seq 300); do if ({command}) 2>/dev/null; then exit 0; fi; sleep 0.1; done"
    typed([again, "exit 1"], folder, **environment)


def test_what_commands_print_is_what_the_pages_say(tmp_path: Path) -> None:
    shown = [text for page in PAGES for text in blocks(page, "console")]
    assert len(shown) >= 3
    for text in shown:
        command, _, expected = text.partition("\n")
        wanted = ".*".join(map(re.escape, expected.rstrip("\n").split("…")))
        done = subprocess.run(
            ["bash", "-c", command.removeprefix("$ ")],
            cwd=tmp_path,
            env=os.environ | {"PATH": PATH},
            capture_output=True,
            text=True,
            check=False,
        )
        assert re.fullmatch(wanted, done.stdout.rstrip("\n"), re.DOTALL), done.stdout + done.stderr


def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    (script,) = blocks("README.md", "python")
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "545220ba8a4f6e35" in done.stdout
    assert "valid" in done.stdout


def test_the_pages_name_every_reason_and_the_states_in_one_order() -> None:
    assert f"one of {len(Reason)} listed reasons" in (ROOT / "README.md").read_text()
    listed = (ROOT / "docs/quickstart.md").read_text().partition("## The reasons")[2]
    assert re.findall(r"`(\w+)`", listed)[: len(Reason)] == [str(reason) for reason in Reason]
    readme = (ROOT / "README.md").read_text()
    assert "delivered + expired + rejected + cancelled + in flight + lost" in readme
    assert "delivered, expired, rejected, cancelled, in flight, lost" in readme


CLIENTS = "docs/clients.md"


def ran(program: str, folder: Path) -> list[str]:
    """What a Python program prints, line by line."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_programs_on_the_page_about_clients_run_as_printed(tmp_path: Path) -> None:
    at_hub, at_broker, in_swarm = blocks(CLIENTS, "python")
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    authority.issue("one.example.com")
    env = {
        **os.environ,
        "WIRELOOM_CTHUN_TLS_CERTIFICATE": str(certificate),
        "WIRELOOM_CTHUN_TLS_KEY": str(key),
        "WIRELOOM_CTHUN_TLS_CLIENT_AUTHORITY": str(authority.path),
    }
    with serving(tmp_path, env=env) as process:
        assert ran(at_hub.replace("ws://127.0.0.1:8787/hub", process.hub), tmp_path) == [
            "delivered",
            "@(shop/orders) stock:reserve {'item': 7}",
            "{'item': 7, 'left': 2}",
        ]
        broker = at_broker.replace("wss://broker.example.com:8142/cthun", process.broker)
        assert ran(broker, tmp_path) == [
            "('cth://one.example.com/agent',)",
            "cth://one.example.com/agent b'hello'",
        ]
        swarm = in_swarm.replace("127.0.0.1:5412", process.swarm)
        assert ran(swarm, tmp_path) == ["True b'hello'", "60 b'hello'"]


def test_the_commands_on_the_page_about_clients_are_commands(tmp_path: Path) -> None:
    (tmp_path / "jwt.secret").write_text("s" * 32)
    (tmp_path / "jwt.secret").chmod(0o600)
    hub = [line for line in commands(CLIENTS) if line.startswith("wireloom hub")]
    (token,) = [line for line in hub if " token " in line]
    typed([token, "test -s bob.token"], tmp_path)
    with serving(tmp_path) as process:
        listens = [line for line in hub if " connect" in line or " subscribe" in line]
        others = [line for line in hub if line not in listens and line != token]
        started = [f"timeout 30 {line} > heard-{n} &" for n, line in enumerate(listens)]
        ready = "until wireloom hub discover '@(desk/bob)' | grep -q bob; do sleep 0.2; done"
        out = typed(
            [*started, ready, *others, "kill %1 %2; wait || true"],
            tmp_path,
            WIRELOOM_HUB_URL=process.hub,
        )
    assert out.splitlines()[0] == "delivered"
    assert "@(desk/bob)  receive" in out
