"""Jobs in other processes: results, cancelling, and the end of a process."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Hashable
from pathlib import Path
from time import monotonic, sleep

import pytest
import uvloop

from live.jobs import deadly, deadly_at_once, endless, third
from live.parts import until
from wireloom.live.workers import Workers
from wireloom.wire.session import Compute


def work(test: Callable[[Workers, dict[Hashable, object]], Awaitable[None]]) -> None:
    async def main() -> None:
        found: dict[Hashable, object] = {}
        workers = Workers(found.__setitem__)
        try:
            async with asyncio.timeout(30):
                await test(workers, found)
        finally:
            workers.stop()

    uvloop.run(main())


def test_a_job_is_computed_part_by_part_in_another_process() -> None:
    async def test(workers: Workers, found: dict[Hashable, object]) -> None:
        workers.compute(Compute("a", third))
        workers.compute(Compute("b", third))
        await until(lambda: len(found) == 2, 20)
        assert os.getpid() not in found.values()
        assert len(workers) == 0

    work(test)


def test_a_cancelled_job_gives_no_result_and_makes_room_for_others() -> None:
    async def test(workers: Workers, found: dict[Hashable, object]) -> None:
        for number in range(10):
            workers.compute(Compute(number, endless))
        workers.compute(Compute("wanted", third))
        await asyncio.sleep(0.5)
        assert found == {}
        for number in range(10):
            workers.cancel(number)
        await until(lambda: "wanted" in found, 20)
        assert list(found) == ["wanted"]

    work(test)


def test_a_part_whose_process_died_is_done_again(tmp_path: Path, monkeypatch: object) -> None:
    async def test(workers: Workers, found: dict[Hashable, object]) -> None:
        workers.compute(Compute("a", deadly))
        await until(lambda: found == {"a": 7}, 20)

    os.environ["WORKERS_TEST_MARK"] = str(tmp_path / "mark")
    try:
        work(test)
    finally:
        del os.environ["WORKERS_TEST_MARK"]


SCRIPT = """
import asyncio, os, sys
sys.path[:0] = [{tests!r}]
from live.jobs import endless
from wireloom.live.workers import Workers
from wireloom.wire.session import Compute

async def main():
    workers = Workers(print)
    workers.compute(Compute("a", endless))
    await asyncio.sleep(1)
    print(*[process.pid for process in workers._pool._processes.values()], flush=True)
    await asyncio.sleep(60)

if __name__ == "__main__":
    asyncio.run(main())
"""


def test_the_processes_end_with_the_one_they_work_for(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(tests=str(Path(__file__).parents[1])))
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert pids
        process.kill()
    end = monotonic() + 10
    while any(Path(f"/proc/{pid}/cmdline").exists() and _runs(pid) for pid in pids):
        assert monotonic() < end
        sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_where_no_process_can_start_a_thread_has_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(workers: Workers, found: dict[Hashable, object]) -> None:
        workers.compute(Compute("a", third))
        await until(lambda: found == {"a": os.getpid()}, 20)

    monkeypatch.setattr("wireloom.live.workers.prepare", deadly_at_once)
    work(test)
