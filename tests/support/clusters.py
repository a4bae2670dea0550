"""A standalone Spark cluster on the loopback, from the installed PySpark.

Each worker has one core, a current directory of its own, and disks of its own: in its mount
namespace an empty file system lies over the folder `apart`, and the folder `frozen` is read-only.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyspark

import wireloom

SPARK_HOME: Final = Path(pyspark.__file__).parent
SOURCE: Final = Path(wireloom.__file__).parents[1]
WORKERS: Final = 2
PATIENCE_SECONDS: Final = 120.0
"""How long a process may take until it says that it is there."""

ENVIRONMENT: Final = {
    **os.environ,
    "SPARK_HOME": str(SPARK_HOME),
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_DAEMON_JAVA_OPTS": "-Dspark.master.rest.enabled=false",
    "JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "PYTHONPATH": str(SOURCE),
}
"""What a command on the cluster needs."""

SETTINGS: Final = (
    *("--conf", "spark.executor.memory=768m"),
    *("--conf", "spark.driver.memory=1g"),
    *("--conf", "spark.driver.host=127.0.0.1"),
    *("--conf", "spark.driver.bindAddress=127.0.0.1"),
)
"""What a small machine needs; nothing of it changes what is computed."""

_DISKS: Final = """
mount -t tmpfs -o size=1m tmpfs "$0/apart"
mount --bind "$0/frozen" "$0/frozen"
mount -o remount,ro,bind "$0/frozen"
exec "$@"
"""


class Daemon:
    """A master or a worker.

    Args:
        name: `master.Master` or `worker.Worker`.
        folder: Its current directory and its log are there.
        arguments: What it is told.
        before: The command that starts it, if it does not start by itself.
    """

    def __init__(
        self, name: str, folder: Path, *arguments: str, before: tuple[str, ...] = ()
    ) -> None:
        (folder / "cwd").mkdir(parents=True)
        self._log = folder / "log"
        spark_class = str(SPARK_HOME / "bin" / "spark-class")
        own = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*before, spark_class, f"org.apache.spark.deploy.{name}", *own, *arguments],
                cwd=folder / "cwd",
                env={key: value for key, value in ENVIRONMENT.items() if key != "PYTHONPATH"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """Ends it and its executors as a power cut does."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def said(self, pattern: str, *, times: int = 1) -> list[str]:
        """What its log has of a pattern, once it has it that often."""
        end = time.monotonic() + PATIENCE_SECONDS
        while len(found := re.findall(pattern, self._log.read_text())) < times:
            running = self._process.poll() is None and time.monotonic() < end
            assert running, self._log.read_text()[-2000:]
            time.sleep(0.05)
        return found


class Cluster:
    """A master and its workers.

    Args:
        folder: All of it is there.
    """

    def __init__(self, folder: Path) -> None:
        self.apart, self.frozen = folder / "apart", folder / "frozen"
        for disk in (self.apart, self.frozen):
            disk.mkdir()
        self._before = ("unshare", "-m", "sh", "-ec", _DISKS, str(folder))
        self.has_disks = _succeeds(*self._before, "true")
        """Whether workers have disks of their own: this process must be allowed to mount."""
        self._folder = folder
        self._started = 0
        self._master = Daemon("master.Master", folder / "master")
        self._workers: list[Daemon] = []

    @property
    def url(self) -> str:
        """What `--master` is told."""
        return self._master.said(r"Starting Spark master at (\S+)")[0]

    @property
    def options(self) -> list[str]:
        """What a command of the pipeline is told: the workers have nothing installed."""
        return ["--master", self.url, *SETTINGS, "--conf", f"spark.executorEnv.PYTHONPATH={SOURCE}"]

    def fill(self) -> None:
        """Starts the workers that are missing, and waits for them."""
        while len(self._workers) < WORKERS:
            self._workers.append(self._worker())
        self._master.said("Registering worker", times=self._started)

    def kill_worker(self) -> None:
        """Ends a worker, its executors and their Python processes."""
        self._workers.pop().kill()

    def stop(self) -> None:
        """Ends all processes."""
        for daemon in (*self._workers, self._master):
            daemon.kill()

    def _worker(self) -> Daemon:
        self._started += 1
        folder = self._folder / f"worker-{self._started}"
        before = self._before if self.has_disks else ()
        told = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work"))
        return Daemon("worker.Worker", folder, *told, self.url, before=before)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster while it is needed."""
    made = Cluster(folder)
    try:
        made.fill()
        yield made
    finally:
        made.stop()


def command(*arguments: str) -> list[str]:
    """A command line of Wireloom, for `ENVIRONMENT`."""
    return [sys.executable, "-c", "from wireloom.cli.main import main; main()", *arguments]


def _succeeds(*arguments: str) -> bool:
    try:
        return subprocess.run(arguments, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
