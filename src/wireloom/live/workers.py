"""Other processes compute what takes long, as many at a time as there are cores.

They start with the first job, and end with this process, however it ends.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from itertools import count
from multiprocessing import get_context, parent_process
from typing import Final

from wireloom.wire.session import Compute, Job

MAX_BROKEN: Final = 3
"""So often processes are started anew when one has died. In a program whose main module does not
guard what it runs they cannot start at all."""

_CORES: Final = os.cpu_count() or 1


class Workers:
    """Computes for one driver.

    Args:
        computed: Told of each result, in a later turn of the loop.
    """

    def __init__(self, computed: Callable[[Hashable, object], None]) -> None:
        self._computed = computed
        self._pool: ProcessPoolExecutor | None = None
        self._tasks: dict[Hashable, asyncio.Task[None]] = {}
        self._broken_count = 0
        self._room = asyncio.Semaphore(_CORES)

    def __len__(self) -> int:
        """How many jobs are under way or wait."""
        return len(self._tasks)

    def compute(self, compute: Compute) -> None:
        """Begins a job, or has it wait for others."""
        self.cancel(compute.task)
        loop = asyncio.get_running_loop()
        self._tasks[compute.task] = loop.create_task(self._work(compute.task, compute.job))

    def cancel(self, task: Hashable) -> None:
        """Ends a job; the part that is being computed is the last one."""
        running = self._tasks.pop(task, None)
        if running is not None:
            running.cancel()

    def stop(self) -> None:
        """Ends all jobs, and the processes."""
        for task in tuple(self._tasks):
            self.cancel(task)
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    async def _work(self, task: Hashable, job: Job) -> None:
        async with self._room:
            result = await self._result(job)
        del self._tasks[task]
        self._computed(task, result)

    async def _result(self, job: Job) -> object:
        """The first result that a part gives; a part whose process has died is done again."""
        loop = asyncio.get_running_loop()
        for part in count():
            while (pool := self._running()) is not None:
                try:
                    result = await loop.run_in_executor(pool, job, part)
                    break
                except BrokenExecutor:
                    self._give_up(pool)
            else:
                result = await loop.run_in_executor(None, job, part)
            if result is not None:
                return result
        raise AssertionError("parts never end")

    def _give_up(self, pool: ProcessPoolExecutor) -> None:
        if self._pool is pool:
            self._pool = None
            self._broken_count += 1

    def _running(self) -> ProcessPoolExecutor | None:
        """The processes; None if they die again and again: then threads have to do."""
        if self._pool is None and self._broken_count < MAX_BROKEN:
            context = get_context("spawn")
            self._pool = ProcessPoolExecutor(_CORES, mp_context=context, initializer=prepare)
        return self._pool


def prepare() -> None:
    """Has this process end with the one that it works for, and not by Ctrl-C before that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
