"""Servers to put load on: each on the first core, while the load comes from the second."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any, Final, NamedTuple

from load.talk import HOST

HERE: Final = Path(__file__).parent
INSTALLED: Final = HERE.parent / ".peers"
DATA: Final = HERE.parent / ".data"
SERVER_CORE: Final = 0
LOAD_CORE: Final = 1
_START_SECONDS: Final = 60
_LIMITS: Final = {
    "line_rate": {"count": 100_000_000, "per_ms": 1_000},
    "actor_rate": {"count": 100_000_000, "per_ms": 1_000},
    "register_rate": {"count": 100_000_000, "per_ms": 1_000},
    "max_queued": 1_000_000,
    "max_all_queued": 2_000_000,
    "max_queued_size": 4_294_967_296,
}
"""Nobody is to be slowed down by rule. All other limits are the defaults."""


class Server(NamedTuple):
    """A server that runs."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def resident(self) -> int:
        """Bytes of memory that it holds."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


Starter = Callable[[], AbstractContextManager[Server]]
"""Starts a server for as long as its context lasts."""


@contextmanager
def load_aside() -> Iterator[None]:
    """Keeps this process on the core of the load."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {LOAD_CORE})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def hub(*, capture: bool = False) -> Iterator[Server]:
    """Our hub."""
    with _ours("signalhub", {"limits": _LIMITS}, capture=capture) as server:
        yield server


@contextmanager
def broker(*, capture: bool = False) -> Iterator[Server]:
    """Our broker."""
    with _ours("cthun", {}, capture=capture) as server:
        yield server


@contextmanager
def nats() -> Iterator[Server]:
    """nats-server with its defaults."""
    port = _free_port()
    with _running([_found("nats-server"), "-a", HOST, "-p", str(port)], port) as server:
        yield server


@contextmanager
def mosquitto(*, is_eager: bool = False) -> Iterator[Server]:
    """Mosquitto with its defaults, but without a limit on what may wait for a client.

    Args:
        is_eager: Have it write at once, where by default it lets small packets wait for others.
    """
    port = _free_port()
    with TemporaryDirectory() as folder:
        config = Path(folder) / "mosquitto.conf"
        config.write_text(
            f"listener {port} {HOST}\nallow_anonymous true\nmax_queued_messages 0\n"
            f"set_tcp_nodelay {str(is_eager).lower()}\n"
        )
        with _running([_found("mosquitto"), "-c", str(config)], port) as server:
            yield server


@contextmanager
def socketio_node() -> Iterator[Server]:
    """Socket.IO on node."""
    port = _free_port()
    command = ["node", str(HERE / "socketio_app.cjs"), str(port)]
    with _running(command, port, NODE_PATH=str(INSTALLED / "node_modules")) as server:
        yield server


@contextmanager
def socketio_python() -> Iterator[Server]:
    """python-socketio on uvicorn."""
    port = _free_port()
    command = [str(_PYTHON), str(HERE / "socketio_app.py"), str(port)]
    with _running(command, port) as server:
        yield server


@contextmanager
def crossbar() -> Iterator[Server]:
    """Crossbar: one router in one worker."""
    port = _free_port()
    with TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(_router(port)))
        command = [str(_PYTHON.with_name("crossbar")), "start", "--cbdir", folder]
        with _running(command, port) as server:
            yield server


_PYTHON: Final = INSTALLED / "venv" / "bin" / "python"


def is_installed(name: str) -> bool:
    """Whether a peer is there."""
    needed = {
        "nats-server": _found("nats-server"),
        "Mosquitto": _found("mosquitto"),
        "Socket.IO": shutil.which("node") and (INSTALLED / "node_modules").exists(),
        "python-socketio": _PYTHON.exists(),
        "crossbar": _PYTHON.with_name("crossbar").exists(),
    }
    return bool(needed[name])


def _found(name: str) -> str:
    """Where a program is; not everyone's path leads to servers."""
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") or ""


def _router(port: int) -> dict[str, Any]:
    """Crossbar's configuration: everyone may do everything in one realm."""
    allowed = dict.fromkeys(("call", "register", "publish", "subscribe"), True)
    role = {"name": "anonymous", "permissions": [{"uri": "", "match": "prefix", "allow": allowed}]}
    transport = {
        "type": "web",
        "endpoint": {"type": "tcp", "port": port, "interface": HOST, "backlog": 1024},
        "paths": {"/": {"type": "json", "value": {}}, "ws": {"type": "websocket"}},
    }
    worker = {
        "type": "router",
        "realms": [{"name": "bench", "roles": [role]}],
        "transports": [transport],
    }
    return {"version": 2, "workers": [worker]}


@contextmanager
def _ours(section: str, settings: dict[str, Any], *, capture: bool) -> Iterator[Server]:
    port = _free_port()
    others = {"signalhub", "cthun", "uep12"} - {section}
    DATA.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=DATA) as folder:
        listen: dict[str, dict[str, Any]] = {name: {"listen": ""} for name in sorted(others)}
        listen[section] = {"listen": f"{HOST}:{port}", **settings}
        node = {"name": "bench", "data": folder, "capture": capture, "metrics": ""}
        config = Path(folder) / "wireloom.toml"
        config.write_text(_toml({"node": node, **listen}))
        command = [str(Path(sys.executable).with_name("wireloom")), "serve", "--config"]
        with _running([*command, str(config)], port) as server:
            yield server


def _toml(sections: dict[str, dict[str, Any]]) -> str:
    return "".join(
        f"[{name}]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in section.items())
        for name, section in sections.items()
    )


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


@contextmanager
def _running(command: list[str], port: int, **env: str) -> Iterator[Server]:
    """Starts a server on its core, waits until it listens, and ends it afterwards."""
    process = subprocess.Popen(
        ["taskset", "-c", str(SERVER_CORE), *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | env,
    )
    try:
        _await(process, port, command[0])
        yield Server(port, process)
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a server, in good order if it can."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _await(process: subprocess.Popen[bytes], port: int, name: str) -> None:
    end = monotonic() + _START_SECONDS
    while True:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            if process.poll() is not None or monotonic() > end:
                raise RuntimeError(f"{name} did not start") from None
            sleep(0.1)
        else:
            return
