"""The tap: every frame gets to the log, whatever the disk does."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import time, time_ns
from typing import Any

import pytest
import uvloop

from capture.made import frame as framed
from live.parts import Pipe, captured, until
from wireloom.capture import retention, rows
from wireloom.capture.meanings import SENT
from wireloom.capture.receipts import put_receipt
from wireloom.capture.retention import Bounds, Keeper, QuotaError, kept
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter
from wireloom.live import tap as module
from wireloom.live.tap import Tap
from wireloom.wire.outcome import Outcome


def pipe(name: str = "alice") -> Pipe:
    made = Pipe(None)
    made.protocol = "echo"
    made.name = name
    return made


def add(tap: Tap, *frames: bytes) -> None:
    for raw in frames:
        tap.rows.add(pipe(), SENT[Outcome.DELIVERED], raw)
    tap.rows.at(time_ns())


def tapped(
    folder: Path, test: Callable[[Tap, list[bool]], Awaitable[None]], **settings: Any
) -> list[bytes]:
    async def main() -> None:
        told: list[bool] = []
        writer = CaptureWriter(folder, "n")
        tap = Tap(writer, "n", overloaded=told.append, **settings)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(tap.run())
            try:
                await test(tap, told)
            finally:
                tap.stop()
        tap.close()

    uvloop.run(main())
    return [frame.raw for frame in captured(folder)]


def test_frames_keep_their_bytes_where_room_grows_and_is_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "FIRST_ROOM", 8)
    monkeypatch.setattr(module, "FLUSH_ROWS", 4)
    monkeypatch.setattr(module, "FLUSH_BYTES", 2_000)
    frames = [b"%d " % number * (number % 7) for number in range(1, 400)]
    frames += [b"large" * 1_000, *frames]
    rooms = set()

    async def test(tap: Tap, told: list[bool]) -> None:
        for number, raw in enumerate(frames):
            rooms.add(id(tap.rows.room))
            add(tap, raw)
            tap.check()
            if number % 8 == 7:
                await until(lambda: not tap.waiting)

    assert tapped(tmp_path, test) == frames
    assert len(rooms) < len(frames) / 8


TOKEN = b'{"authToken":"secret"}'


def test_tokens_are_not_written_and_the_rest_is(tmp_path: Path) -> None:
    def talk(tap: Tap, protocol: str, *frames: bytes) -> None:
        spoken = pipe()
        spoken.protocol = protocol
        for raw in frames:
            tap.rows.add(spoken, SENT[None], raw)
        tap.rows.at(time_ns())

    async def test(tap: Tap, told: list[bool]) -> None:
        talk(tap, "signalhub", b"before", TOKEN, b"", TOKEN, b"after")
        talk(tap, "cthun", TOKEN)

    hidden = TOKEN.replace(b"secret", b"******")
    expected = [b"before", hidden, b"", hidden, b"after", TOKEN]
    assert tapped(tmp_path / "hidden", test) == expected
    shown = [b"before", TOKEN, b"", TOKEN, b"after", TOKEN]
    assert tapped(tmp_path / "shown", test, tokens=True) == shown


def test_few_rows_are_written_after_a_while_and_the_rest_at_the_end(tmp_path: Path) -> None:
    async def test(tap: Tap, told: list[bool]) -> None:
        add(tap, b"first")
        assert tap.waiting == 1
        await until(lambda: not tap.waiting)
        assert [frame.raw for frame in captured(tmp_path)] == [b"first"]
        add(tap, b"last")

    assert tapped(tmp_path, test) == [b"first", b"last"]


@pytest.mark.parametrize("limit", ["FLUSH_ROWS", "FLUSH_BYTES"])
def test_many_rows_are_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(module, limit, 100)
    monkeypatch.setattr(module, "FLUSH_SECONDS", 1_000)

    async def test(tap: Tap, told: list[bool]) -> None:
        add(tap, *[b"x"] * 99)
        tap.check()
        await asyncio.sleep(0.02)
        assert tap.waiting == 99
        add(tap, b"y")
        tap.check()
        await until(lambda: not tap.waiting)
        assert told == []

    assert tapped(tmp_path, test) == [b"x"] * 99 + [b"y"]


def test_a_disk_that_takes_nothing_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "MAX_ROWS", 10)
    monkeypatch.setattr(module, "FLUSH_ROWS", 4)
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    write = CaptureWriter.write
    broken = True

    def refuse(writer: CaptureWriter, batch: object) -> None:
        if broken:
            raise OSError(28, "No space left on device")
        write(writer, batch)

    monkeypatch.setattr(CaptureWriter, "write", refuse)

    async def test(tap: Tap, told: list[bool]) -> None:
        nonlocal broken
        for number in range(20):
            add(tap, b"%d" % number)
            tap.check()
        await until(lambda: tap.is_failing)
        assert tap.is_overloaded
        assert tap.waiting == 20
        broken = False
        await until(lambda: not tap.waiting)
        assert not tap.is_failing
        await until(lambda: not tap.is_overloaded)
        assert told == [True, False]

    assert tapped(tmp_path, test) == [b"%d" % number for number in range(20)]
    assert caplog.text.count("No space left") == 1


def test_a_full_quota_stops_nobody_and_what_is_passed_over_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(retention, "FULL_SECONDS", 0.01)
    monkeypatch.setattr(module, "MAX_ROWS", 2)
    with CaptureWriter(tmp_path, "n") as writer:
        writer.append(framed(node="n", raw=b"old"))
    (segment,) = segments(tmp_path)
    keeper = Keeper(tmp_path, "n", Bounds(max_bytes=sum(one.size for one in kept(tmp_path)) + 4))

    async def test(tap: Tap, told: list[bool]) -> None:
        for _ in range(9):
            add(tap, b"12345")
            await until(lambda: not tap.waiting)
        assert tap.passed_over == 9
        assert isinstance(tap.excess, QuotaError)
        assert not tap.is_failing
        assert told == []
        assert [one.raw for one in captured(tmp_path)] == [b"old"]
        put_receipt(tmp_path, "tables", {segment.name: 1})
        await asyncio.sleep(0.02)
        add(tap, b"there is room again")
        await until(lambda: tap.excess is None and not tap.waiting)
        assert tap.kept_bytes > 0

    assert tapped(tmp_path, test, keeper=keeper) == [b"there is room again"]
    assert caplog.text.count("run the pipeline, or raise capture_max_bytes") == 1


def test_captures_that_are_too_old_go_while_nothing_is_captured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with CaptureWriter(tmp_path, "n") as writer:
        writer.append(framed(node="n", raw=b"old"))
    (segment,) = segments(tmp_path)
    put_receipt(tmp_path, "tables", {segment.name: 1})
    keeper = Keeper(tmp_path, "n", Bounds(max_age=60.0), clock=lambda: time() + 61)

    async def test(tap: Tap, told: list[bool]) -> None:
        await until(lambda: not segment.path.exists())

    assert tapped(tmp_path, test, keeper=keeper) == []


def test_a_disk_that_fails_to_the_end_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)

    async def test(tap: Tap, told: list[bool]) -> None:
        add(tap, b"x")
        monkeypatch.setattr(CaptureWriter, "write", refuse)
        await until(lambda: tap.is_failing)

    with pytest.raises(OSError, match="No space"):
        tapped(tmp_path, test)


def test_rows_that_do_not_fit_into_one_column_are_parted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MAX_COLUMN_SIZE", 10)

    async def test(tap: Tap, told: list[bool]) -> None:
        add(tap, *(b"%d" % number * 6 for number in range(5)), b"x" * 20, b"")

    assert tapped(tmp_path, test) == [b"%d" % n * 6 for n in range(5)] + [b"x" * 20, b""]
