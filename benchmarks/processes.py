"""What a command costs: a process and all that it starts."""

import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import NamedTuple


class Cost(NamedTuple):
    """What a command cost, from its start to its end."""

    seconds: float
    core_seconds: float
    peak: float
    """MB, of all processes together; pages that they share count once."""


def cost(command: Sequence[str]) -> Cost:
    """Runs a command to its end.

    Raises:
        CalledProcessError: If it fails.
    """
    before = _spent()
    begin = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        peak = _Peak(process.pid)
        _, said = process.communicate()
        taken = perf_counter() - begin
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=said)
    return Cost(taken, _spent() - before, peak.end())


class _Peak:
    """Looks now and then how much memory a process has."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._most = 0.0
        self._ended = Event()
        self._thread = Thread(target=self._look)
        self._thread.start()

    def end(self) -> float:
        """The most that was seen, in MB."""
        self._ended.set()
        self._thread.join()
        return self._most

    def _look(self) -> None:
        while not self._ended.wait(0.25):
            self._most = max(self._most, resident(self._pid))


def resident(pid: int) -> float:
    """MB of a process and of all that it started; pages that they share count once."""
    return sum(_share(one) for one in _tree(pid)) / 1e3


def _tree(pid: int) -> list[int]:
    found = [pid]
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            children = (task / "children").read_text().split()
            found += [one for child in children for one in _tree(int(child))]
    except OSError:
        pass  # it has ended
    return found


def _share(pid: int) -> int:
    """In kB."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _spent() -> float:
    """Core-seconds of all processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
