"""A server that is attacked: with its defaults, a capture log and metrics."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any, Final, NamedTuple

from load.servers import DATA, SERVER_CORE, end
from load.talk import HOST

MIB: Final = 1 << 20
_START_SECONDS: Final = 30.0
MAX_MEMORY: Final = 4 << 30
"""A server that takes more is ended: the machine has others to serve."""

_ADDRESSES: Final = 16 << 30
"""Address space that it may ask for; what takes memory faster than anybody looks ends at this."""


class Victim(NamedTuple):
    """Where a running server listens, and what is known of it."""

    pid: int
    hub: int
    broker: int
    metrics: int
    data: str
    log: str

    @property
    def peak_memory(self) -> int:
        """The most bytes of memory that it ever held."""
        return _status(self.pid, "VmHWM:") * 1024

    @property
    def memory(self) -> int:
        """Bytes of memory that it holds."""
        return _status(self.pid, "VmRSS:") * 1024

    @property
    def is_alive(self) -> bool:
        """Whether it runs and keeps within bounds; beyond all bounds it is ended here."""
        try:
            if self.memory <= MAX_MEMORY:
                return True
            os.kill(self.pid, signal.SIGKILL)
        except (ProcessLookupError, StopIteration):
            pass
        return False

    @property
    def written(self) -> int:
        """Bytes that it wrote to disk."""
        lines = Path(f"/proc/{self.pid}/io").read_text().splitlines()
        counts = dict(line.split(": ") for line in lines)
        return int(counts["write_bytes"]) - int(counts["cancelled_write_bytes"])

    @property
    def kept(self) -> int:
        """Bytes of the files that it keeps."""
        return sum(path.stat().st_size for path in Path(self.data).rglob("*") if path.is_file())

    @property
    def cpu_seconds(self) -> float:
        """Processor time that it used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def logged(self) -> int:
        """Bytes that it has logged."""
        return Path(self.log).stat().st_size


@contextmanager
def serving(settings: dict[str, str], max_files: int | None = None) -> Iterator[Victim]:
    """Starts a server on its core, and ends it afterwards.

    Args:
        settings: Environment variables that set what is not as it comes.
        max_files: How many files and sockets it may have open.
    """
    DATA.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=DATA) as folder:
        ready, log = Path(folder) / "ready", Path(folder) / "log"
        command = [str(Path(sys.executable).with_name("wireloom")), "serve", "--name", "victim"]
        command += ["--data", f"{folder}/data", "--ready-file", str(ready)]
        limit = ["prlimit", f"--as={_ADDRESSES}"]
        limit += [] if max_files is None else [f"--nofile={max_files}"]
        listen = {
            f"WIRELOOM_{name}": f"{HOST}:0"
            for name in ("SIGNALHUB_LISTEN", "CTHUN_LISTEN", "NODE_METRICS")
        }
        listen["WIRELOOM_UEP12_LISTEN"] = ""
        with log.open("wb") as errors:
            process = subprocess.Popen(
                ["taskset", "-c", str(SERVER_CORE), *limit, *command],
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=os.environ | listen | settings,
            )
        try:
            hub, broker, metrics = _ports(process, ready)
            yield Victim(process.pid, hub, broker, metrics, f"{folder}/data", str(log))
        finally:
            end(process)


def get(port: int, path: str) -> tuple[int, str]:
    """The status and the text of a page."""
    with socket.create_connection((HOST, port), timeout=10) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode())
        got = b""
        while part := line.recv(65_536):
            got += part
    head, _, body = got.decode().partition("\r\n\r\n")
    return int(head.split()[1]), body


def toml(value: Any) -> str:
    """A setting's value as the environment has it."""
    return json.dumps(value)


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def _ports(process: subprocess.Popen[bytes], ready: Path) -> list[int]:
    """The ports of hub, broker and metrics, once it listens."""
    end = monotonic() + _START_SECONDS
    while not ready.exists():
        if process.poll() is not None or monotonic() > end:
            raise RuntimeError("the server did not start")
        sleep(0.05)
    urls = [line.split()[1] for line in ready.read_text().splitlines()]
    return [int(url.split("://")[1].split("/")[0].rpartition(":")[2]) for url in urls]
