"""Spark in a command: how it starts, which of its messages are shown, and how it ends.

Spark's process has a standard error of its own. What it says about itself at every start is left
out; all else is passed on. An interrupt ends both processes at once: what was committed is
there, and all else is done again by the next run.
"""

import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from subprocess import Popen, TimeoutExpired
from threading import Thread
from typing import Any, Final

import click
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from wireloom.cli.misuse import MisuseError
from wireloom.cli.progress import ProgressLine
from wireloom.pipeline.classes import Archive
from wireloom.pipeline.spark import JavaMissingError, Starting, Style, is_local, java, session

STOPPED: Final = b"stopped; run again to go on\n"
PATIENCE_SECONDS: Final = 10.0
"""How long Spark may take to delete its temporary files after an interrupt."""

_BANNER: Final = re.compile(
    r"""
    \d\d(/\d\d)*[ ]?\S*[ ](INFO|WARN)[ ]         # what it logs before it knows what to log
    | WARNING:[ ] | Picked[ ]up[ ]J | OpenJDK.*warning:
    | Setting[ ]default[ ]log[ ]level | To[ ]adjust[ ]logging[ ]level | Using[ ]Spark's[ ]
    | ::[ ] | Ivy[ ] | The[ ]jars[ ]for | \S+[ ]added[ ]as[ ]a[ ]dependency
    | \t | [ ]*[|-] | downloading[ ] | confs:[ ]   # how the packages of --conf were found
    | \s*$
    """,
    re.VERBOSE,
)

_THROWN: Final = re.compile(r'Exception in thread "[^"]*" [\w.$]+: ')


def parsed(conf: Sequence[str]) -> dict[str, str]:
    """The settings that `--conf` gives.

    Raises:
        MisuseError: If one is not KEY=VALUE.
    """
    for one in conf:
        if not one.partition("=")[0] or "=" not in one:
            raise MisuseError(
                f"--conf {one}: a setting is KEY=VALUE, such as spark.driver.memory=8g."
            )
    return dict(one.split("=", 1) for one in conf)


@contextmanager
def started(
    master: str | None,
    conf: Sequence[str],
    shown: ProgressLine,
    *,
    on_signal: Callable[[], None] | None = None,
) -> Iterator[Starting]:
    """Spark, while it is needed; it starts when a run knows how much there is to do.

    Args:
        master: Where it runs.
        conf: What `--conf` says.
        shown: Is told what Spark complains of.
        on_signal: What the first interrupt does, if it does not end the command at once.

    Raises:
        ClickException: If it does not start.
    """
    settings = parsed(conf)
    _obey(shown, on_signal)
    local = is_local(master)
    spark = Starting(partial(_start, master, settings, shown), is_local=local)
    try:
        yield spark
    finally:
        spark.stop()
        _end_process()
        if local:
            Archive.found(java()).keep()


def passed_on(line: str) -> bool:
    """Whether a line of Spark's is more than what it says at every start."""
    return _BANNER.match(line) is None


def _start(
    master: str | None, settings: dict[str, str], shown: ProgressLine, style: Style
) -> SparkSession:
    listener = Listener(shown)
    try:
        spark = session(
            master=master, settings=settings, style=style, stderr=listener.ear, archives=True
        )
    except JavaMissingError as error:
        raise click.ClickException(str(error)) from None
    except (Py4JError, PySparkException) as error:
        said = listener.reason() or _sentence(error)
        raise click.ClickException(f"Spark did not start: {said}") from None
    finally:
        listener.close()
    listener.show()
    return spark


def _sentence(error: Exception) -> str:
    if isinstance(error, Py4JJavaError):
        return str(error.java_exception.getMessage())
    return str(error)


class Listener:
    """Hears what Spark's process says, and shows what is more than its banner once it has started.

    Args:
        shown: Where that is shown.
    """

    def __init__(self, shown: ProgressLine) -> None:
        self._shown = shown
        self._waiting: list[str] | None = []
        mouth, self.ear = os.pipe()
        self._thread = Thread(target=self._listen, args=(mouth,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leaves the pipe to Spark alone."""
        if self.ear >= 0:
            os.close(self.ear)
            self.ear = -1

    def show(self) -> None:
        """Shows what was said, and from now on what is said."""
        waiting, self._waiting = self._waiting, None
        for line in waiting or ():
            self._shown.line(line)

    def reason(self) -> str | None:
        """Why a process that has ended did so: the first thing that it said."""
        self.close()
        self._thread.join(PATIENCE_SECONDS)
        return _THROWN.sub("", self._waiting[0]) if self._waiting else None

    def _listen(self, mouth: int) -> None:
        with os.fdopen(mouth, encoding="utf-8", errors="replace") as lines:
            for line in filter(passed_on, lines):
                tell = self._shown.line if self._waiting is None else self._waiting.append
                tell(line.rstrip("\n"))


def _obey(shown: ProgressLine, on_signal: Callable[[], None] | None) -> None:
    """Has an interrupt end the command: at once, or the second one if the first does something."""
    heard = False

    def obey(number: int, _: Any) -> None:
        nonlocal heard
        if on_signal is None or heard:
            _end(number, shown)
        heard = True
        if on_signal is not None:
            on_signal()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, obey)


def _end(number: int, shown: ProgressLine) -> None:
    """Ends both processes. An exception would do so too, after all threads had complained."""
    shown.end()
    os.write(2, STOPPED)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    _end_process()
    os._exit(128 + number)


def _end_process() -> None:
    """Ends Spark's process, and waits for it: it writes the archive of its classes then."""
    process: Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    if process is not None:
        process.terminate()
        try:
            process.wait(PATIENCE_SECONDS)
        except TimeoutExpired:
            process.kill()
