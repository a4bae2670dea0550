"""Jobs that other processes do: they find them by this module's name."""

import os
import signal
from pathlib import Path
from time import sleep


def third(part: int) -> int | None:
    return os.getpid() if part == 2 else None


def endless(part: int) -> None:
    sleep(0.005)


def deadly(part: int) -> int:
    if not Path(os.environ["WORKERS_TEST_MARK"]).exists():
        Path(os.environ["WORKERS_TEST_MARK"]).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 7


def deadly_at_once() -> None:
    os._exit(1)
