"""The driver: what a session wants is done, in the right order."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import uvloop

from live.parts import EchoSession, Pipe, captured, running, until
from wireloom.capture.writer import CaptureWriter
from wireloom.live.backlogs import Backlogs
from wireloom.live.driver import LARGE, MANY, Driver
from wireloom.live.links.connection import LinkLimits
from wireloom.live.metrics import Meters
from wireloom.live.store import RecordStore
from wireloom.live.tap import Tap
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Alive,
    Closed,
    Command,
    Congested,
    Deliver,
    Dial,
    Event,
    Forget,
    FrameReceived,
    FrameRefused,
    Opened,
    Requested,
    Send,
    Store,
    TimerFired,
)


def drive(
    folder: Path,
    test: Callable[[Driver, EchoSession], Awaitable[None]],
    session: EchoSession | None = None,
    **more: Any,
) -> EchoSession:
    session = session or EchoSession()

    async def main() -> None:
        async with running(session, folder, **more) as driver:
            await test(driver, session)

    uvloop.run(main())
    return session


def opened(driver: Driver, **limits: int) -> Pipe:
    pipe = Pipe(driver, LinkLimits(**limits))
    driver.opened(pipe)
    return pipe


def test_a_frame_is_answered_and_lines_are_never_used_twice(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        first, second = opened(driver), opened(driver)
        driver.received(FrameReceived(first.line, b"hello", True))
        await until(lambda: first.writes)
        assert first.writes == [[b"hello"]]
        assert second.writes == []
        driver.closed(first, 1000)
        third = opened(driver)
        assert [first.line, second.line, third.line] == [1, 2, 3]

    session = drive(tmp_path, test)
    assert session.seen(Opened)[0] == Opened(1, "nowhere:1", link="pipe")
    assert session.seen(FrameReceived) == [FrameReceived(1, b"hello", text=True)]
    assert Closed(1, 1000) in session.events


def test_the_session_hears_of_an_end_before_anything_else(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        first, second, third = opened(driver), opened(driver), opened(driver)
        driver.closed(first, 1006)
        driver.received(FrameReceived(second.line, b"hello", True))
        driver.catch_up()
        driver.ending(third, 1001)
        driver.request("anything")
        kinds = [type(event) for event in session.events if type(event) is not Opened]
        assert kinds == [Closed, FrameReceived, Closed, Requested]

    drive(tmp_path, test)


def test_nothing_leaves_on_a_line_that_is_ending_and_its_end_is_told_once(tmp_path: Path) -> None:
    meters = Meters()

    async def test(driver: Driver, session: EchoSession) -> None:
        first, second = opened(driver), opened(driver)
        driver.ending(first, 4001)
        driver.received(FrameReceived(second.line, b"all x", True))
        await until(lambda: second.writes)
        assert first.writes == []
        assert meters.gauges["connections"]() == 2
        driver.closed(first, 1006)
        assert meters.gauges["connections"]() == 1

    session = drive(tmp_path, test, meters=meters)
    assert session.seen(Closed)[0] == Closed(1, 4001)
    assert [event.line for event in session.seen(Closed)].count(1) == 1
    assert meters.closed[4001] == 1
    assert meters.closed[1006] == 0


def test_what_waits_on_a_line_that_is_ending_counts_until_it_is_gone(tmp_path: Path) -> None:
    meters = Meters()

    async def test(driver: Driver, session: EchoSession) -> None:
        pipe = opened(driver)
        pipe.stuck = 1_000
        driver.congested(pipe)
        driver.ending(pipe, 1001)
        await until(lambda: session.seen(Congested))
        assert meters.gauges["congested_connections"]() == 1
        driver.closed(pipe, 1001)
        assert meters.gauges["congested_connections"]() == 0

    drive(tmp_path, test, meters=meters)


def test_a_record_is_forgotten_after_what_it_stood_for_has_left() -> None:
    async def test(driver: Driver, store: Slow) -> None:
        pipe = opened(driver)
        left: list[int] = []
        store.commit = lambda: left.append(len(pipe.writes))  # type: ignore[method-assign]
        driver.request([Send(1, b"a"), Forget("kept", "x")])
        await turn()
        assert left == [1]

    slowly(test)


def test_a_connection_to_a_peer_that_was_given_up_is_cut_and_not_heard_of(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        late = Pipe(driver)
        late.dial = Dial("tcp", "ada:1")
        driver.opened(late)
        assert late.aborted
        driver.closed(late, 1006)
        await turn()
        assert session.events == []

    drive(tmp_path, test)


def test_what_a_session_delivers_is_handed_on(tmp_path: Path) -> None:
    async def test(driver: Driver, store: Slow) -> None:
        driver.request([Deliver("nobody takes it")])
        got: list[object] = []
        driver.deliver = got.append
        driver.request([Deliver("here")])
        assert got == ["here"]

    slowly(test)


def test_frames_are_handled_in_their_order_when_the_turn_ends(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        first, second = opened(driver), opened(driver)
        driver.received(FrameReceived(first.line, b"a"))
        driver.received(FrameReceived(second.line, b"b"))
        driver.received(FrameReceived(first.line, b"c"))
        assert session.seen(FrameReceived) == []
        await turn()
        assert [event.raw for event in session.seen(FrameReceived)] == [b"a", b"b", b"c"]

    drive(tmp_path, test)


def test_what_waits_for_the_end_of_a_turn_has_a_bound(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        pipe = opened(driver)
        for number in range(3 * MANY):
            driver.received(FrameReceived(pipe.line, b"%d" % number))
            assert number - len(session.seen(FrameReceived)) <= MANY
        driver.catch_up()
        before = len(session.seen(FrameReceived))
        driver.received(FrameReceived(pipe.line, bytes(LARGE)))
        assert len(session.seen(FrameReceived)) == before
        driver.received(FrameReceived(pipe.line, bytes(LARGE + 1)))
        assert len(session.seen(FrameReceived)) == before + 2
        heard = [event.raw for event in session.seen(FrameReceived)][:before]
        assert heard == [b"%d" % number for number in range(3 * MANY)]

    drive(tmp_path, test)


def test_a_turn_ends_even_if_something_in_it_fails() -> None:
    async def main() -> None:
        faults: list[object] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: faults.append(context["exception"]))
        store: Any = Slow(None)  # type: ignore[arg-type]
        store.put = lambda *_: 1 // 0
        driver = Driver("echo", EchoSession(), store=store)
        driver.start()
        pipe = opened(driver)
        driver.received(FrameReceived(pipe.line, b"keep x"))
        driver.received(FrameReceived(pipe.line, b"y"))
        await turn()
        assert [type(fault) for fault in faults] == [ZeroDivisionError]
        assert pipe.writes == [[b"y"]]

    uvloop.run(main())


def test_frames_are_handled_before_anything_that_happens_after_them(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        first, second = opened(driver), opened(driver)
        driver.received(FrameReceived(first.line, b"a"))
        driver.alive(second)
        driver.received(FrameReceived(first.line, b"last words"))
        driver.closed(first, 1000)
        driver.received(FrameReceived(second.line, b"b"))
        driver.catch_up()
        events = [event for event in session.events if type(event) is not Opened]
        assert [type(event) for event in events] == [
            FrameReceived,
            Alive,
            FrameReceived,
            Closed,
            FrameReceived,
        ]
        assert first.writes == []

    drive(tmp_path, test)


def test_frames_behind_one_that_ended_its_line_are_not_handled(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        first, second = opened(driver), opened(driver)
        driver.received(FrameReceived(first.line, b"bye 4000"))
        driver.received(FrameReceived(first.line, b"too late"))
        driver.received(FrameReceived(second.line, b"in time"))
        await turn()
        heard = [event.raw for event in session.seen(FrameReceived)]
        assert heard == [b"bye 4000", b"in time"]

    drive(tmp_path, test)


def test_all_that_a_line_is_owed_in_one_turn_leaves_in_one_write(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        first, second = opened(driver), opened(driver)
        driver.received(FrameReceived(first.line, b"all a"))
        driver.received(FrameReceived(second.line, b"all b"))
        driver.received(FrameReceived(first.line, b"c"))
        assert first.writes == []
        await until(lambda: first.writes)
        assert first.writes == [[b"a", b"b", b"c"]]
        assert second.writes == [[b"a", b"b"]]

    drive(tmp_path, test)


class Slow:
    """Stands in for the store's thread: commits only when told."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store
        self.records: list[tuple[tuple[str, str, str], bytes | None]] = []

    def put(self, key: tuple[str, str, str], value: bytes | None) -> int:
        self.records.append((key, value))
        return len(self.records)

    def commit(self) -> None:
        pass

    def load(self, protocol: str) -> list[Store]:
        return []


def slowly(test: Callable[[Driver, Slow], Awaitable[None]]) -> None:
    async def main() -> None:
        store = Slow(None)  # type: ignore[arg-type]
        session = Obedient()
        driver = Driver("echo", session, store=store)
        driver.start()
        await test(driver, store)

    uvloop.run(main())


class Obedient(EchoSession):
    def wants(self, event: Event, now_ms: int) -> Sequence[Command]:
        if isinstance(event, Requested) and isinstance(event.request, list):
            return event.request
        return super().wants(event, now_ms)


async def turn() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


def test_what_follows_a_store_waits_for_the_disk(tmp_path: Path) -> None:
    async def test(driver: Driver, store: Slow) -> None:
        pipe = opened(driver)
        driver.received(FrameReceived(pipe.line, b"keep x"))
        await turn()
        assert store.records == [(("echo", "kept", "x"), b"x")]
        assert pipe.writes == []
        driver.synced(1)
        await turn()
        assert pipe.writes == [[b"keep x"]]

    slowly(test)


def test_a_frame_does_not_overtake_one_that_waits_on_its_line(tmp_path: Path) -> None:
    async def test(driver: Driver, store: Slow) -> None:
        pipe, other = opened(driver), opened(driver)
        driver.received(FrameReceived(pipe.line, b"keep x"))
        driver.received(FrameReceived(pipe.line, b"plain"))
        driver.received(FrameReceived(pipe.line, b"drop y"))
        driver.received(FrameReceived(pipe.line, b"bye 4000"))
        driver.received(FrameReceived(other.line, b"elsewhere"))
        await turn()
        assert pipe.writes == []
        assert other.writes == [[b"elsewhere"]]
        assert driver._meters.gauges["held_commands"]() == 5
        driver.synced(1)
        await turn()
        assert pipe.writes == [[b"keep x", b"plain"]]
        assert pipe.closes == []
        driver.synced(2)
        await turn()
        assert pipe.writes == [[b"keep x", b"plain"], [b"drop y", b"bye 4000"]]
        assert pipe.closes == [(4000, "as you like")]

    slowly(test)


def test_what_waits_for_a_line_that_is_gone_is_dropped(tmp_path: Path) -> None:
    async def test(driver: Driver, store: Slow) -> None:
        pipe = opened(driver)
        driver.received(FrameReceived(pipe.line, b"keep x"))
        driver.closed(pipe, 1006)
        driver.synced(1)
        await turn()
        assert pipe.writes == []
        assert driver._meters.gauges["held_commands"]() == 0

    slowly(test)


def test_a_close_ends_a_line_after_its_frames(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        pipe = opened(driver)
        driver.received(FrameReceived(pipe.line, b"bye 4001"))
        await until(lambda: session.seen(Closed))
        assert pipe.writes == [[b"bye 4001"]]
        assert pipe.closes == [(4001, "as you like")]
        driver.request(None)

    assert drive(tmp_path, test).seen(Closed) == [Closed(1, 4001)]


def test_timers_fire_and_can_be_set_anew(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        pipe = opened(driver)
        driver.received(FrameReceived(pipe.line, b"wake 40"))
        driver.received(FrameReceived(pipe.line, b"wake 1"))
        await until(lambda: len(pipe.writes) == 2)
        assert pipe.writes == [[b"wake 1"], [b"wake 40"]]

    drive(tmp_path, test)


def test_many_timers_at_once_leave_room_for_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireloom.live.driver.MAX_TIMERS_A_TURN", 2)

    async def test(driver: Driver, session: EchoSession) -> None:
        pipe = opened(driver)
        for number in range(5):
            driver.received(FrameReceived(pipe.line, b"wake -%d" % number))
        await until(lambda: sum(map(len, pipe.writes)) == 5)
        assert len(pipe.writes) == 3

    drive(tmp_path, test)


def test_a_fault_of_the_session_costs_one_line_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    meters = Meters()

    async def test(driver: Driver, session: EchoSession) -> None:
        bad, good = opened(driver), opened(driver)
        driver.received(FrameReceived(bad.line, b"fail"))
        driver.received(FrameReceived(good.line, b"fine"))
        await until(lambda: good.writes)
        assert bad.closes == [(1011, "internal error")]

    with caplog.at_level(logging.CRITICAL):
        drive(tmp_path, test, meters=meters)
    assert meters.faults == 1
    assert meters.received[None, Outcome.REJECTED, Reason.INTERNAL] == 1


def test_a_fault_on_another_event_is_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(EchoSession):
        def wants(self, event: Event, now_ms: int) -> Sequence[Command]:
            if isinstance(event, Requested):
                raise ValueError("no")
            return []

    meters = Meters()

    async def test(driver: Driver, session: EchoSession) -> None:
        driver.request("x")

    with caplog.at_level(logging.CRITICAL):
        drive(tmp_path, test, Failing(), meters=meters)
    assert meters.faults == 1


def test_every_frame_has_one_outcome_even_if_the_session_forgets(tmp_path: Path) -> None:
    meters = Meters()

    async def test(driver: Driver, session: EchoSession) -> None:
        pipe = opened(driver)
        for raw in (b"mute", b"bad", b"x", b"y"):
            driver.received(FrameReceived(pipe.line, raw))

    drive(tmp_path, test, meters=meters)
    assert dict(meters.received) == {
        (None, Outcome.REJECTED, Reason.INTERNAL): 1,
        (None, Outcome.REJECTED, Reason.MALFORMED): 1,
        ("said", Outcome.ACCEPTED, None): 2,
    }
    assert dict(meters.sent) == {Outcome.DELIVERED: 3, None: 1}
    assert meters.opened == 1
    assert dict(meters.closed) == {1001: 1}


def test_signs_of_life_reach_the_session(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        driver.alive(opened(driver))

    assert drive(tmp_path, test).seen(Alive) == [Alive(1)]


def test_a_slow_reader_is_told_of_until_it_caught_up(tmp_path: Path) -> None:
    meters = Meters()

    async def test(driver: Driver, session: EchoSession) -> None:
        pipe = opened(driver)
        pipe.stuck = 100
        driver.received(FrameReceived(pipe.line, b"x" * 60))
        driver.received(FrameReceived(pipe.line, b"y" * 40))
        driver.congested(pipe)
        await until(lambda: session.seen(Congested))
        assert meters.slow() == [("nowhere:1", 100)]
        assert meters.gauges["congested_connections"]() == 1
        pipe.stuck = 30
        await until(lambda: len(session.seen(Congested)) == 2)
        pipe.stuck = 0
        await until(lambda: len(session.seen(Congested)) == 3)
        await asyncio.sleep(0.25)

    session = drive(tmp_path, test, meters=meters)
    assert session.seen(Congested) == [
        Congested(1, 2, 100),
        Congested(1, 2, 30),
        Congested(1, 0, 0),
    ]


def test_a_reader_that_lets_too_much_wait_is_cut_and_named(tmp_path: Path) -> None:
    meters = Meters()

    async def test(driver: Driver, session: EchoSession) -> None:
        pipe = opened(driver, max_backlog_bytes=50)
        driver.received(FrameReceived(pipe.line, b"name slow one"))
        await turn()
        pipe.stuck = 51
        driver.received(FrameReceived(pipe.line, b"x" * 51))
        await until(lambda: pipe.aborted)

    drive(tmp_path, test, meters=meters)
    assert meters.cut == {"slow one": 1}


def test_an_overloaded_node_does_not_read(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        before = opened(driver)
        driver.pause()
        late = opened(driver)
        assert before.paused
        assert late.paused
        driver.resume()
        assert not before.paused
        assert not late.paused

    drive(tmp_path, test)


def test_an_overloaded_node_handles_what_it_has_read_later(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        pipe, gone = opened(driver), opened(driver)
        driver.pause()
        for line in (pipe.line, gone.line):
            driver.received(FrameReceived(line, b"hello"))
        driver.received(FrameReceived(pipe.line, b"wake 0"))
        late = opened(driver)
        late.close(1000, "")
        await asyncio.sleep(0.05)
        assert session.seen(FrameReceived) == []
        assert session.events[-2:] == [Opened(3, "nowhere:1", link="pipe"), Closed(3, 1000)]
        driver.ending(gone, 1006)
        driver.resume()
        await until(lambda: session.seen(TimerFired))
        heard = [FrameReceived(1, b"hello"), FrameReceived(1, b"wake 0")]
        assert session.seen(FrameReceived) == heard

    drive(tmp_path, test)


def test_the_bound_of_what_waits_for_the_capture_log_holds_within_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written before the turn ends: whatever was read by then is handled later."""
    monkeypatch.setattr("wireloom.live.tap.MAX_BYTES", 40 << 20)
    large = b"x" * (1 << 20)
    waited: list[int] = []

    async def test(driver: Driver, session: EchoSession) -> None:
        pipe = opened(driver)
        driver._inbox.extend(FrameReceived(pipe.line, large) for _ in range(100))
        driver.catch_up()
        waited.append(len(session.seen(FrameReceived)))

    async def main() -> None:
        def overloaded(is_much: bool) -> None:
            if is_much:
                driver.pause()

        tap = Tap(CaptureWriter(tmp_path / "captures", "n1"), "n1", overloaded=overloaded)
        session = EchoSession()
        async with running(session, tmp_path, tap=tap) as driver:
            await test(driver, session)
        tap.close()

    uvloop.run(main())
    assert 20 <= waited[0] <= 40  # each is captured as it came and as it left


def test_with_too_much_waiting_for_the_store_the_node_is_overloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireloom.live.driver.MAX_HELD_BYTES", 100_000)
    told: list[bool] = []

    async def test(driver: Driver, session: EchoSession) -> None:
        driver.overloaded = told.append
        pipe = opened(driver)
        driver.received(FrameReceived(pipe.line, b"keep " + b"x" * 200_000))
        await until(lambda: told == [True, False])

    drive(tmp_path, test)


def test_connections_of_all_drivers_are_weighed_together(tmp_path: Path) -> None:
    async def test(driver: Driver, session: EchoSession) -> None:
        driver.backlogs = Backlogs(1_000)
        pipes = [opened(driver) for _ in range(3)]
        for pipe in pipes:
            pipe.stuck = 400
            driver.received(FrameReceived(pipe.line, b"x"))
        await until(lambda: sum(pipe.aborted for pipe in pipes) == 1)
        for pipe in pipes:
            driver.closed(pipe, 1006)
        assert driver.backlogs.total == 0

    drive(tmp_path, test)


def test_a_stop_lets_the_session_say_goodbye_and_everything_out(tmp_path: Path) -> None:
    pipes: list[Pipe] = []

    async def test(driver: Driver, session: EchoSession) -> None:
        pipes.append(opened(driver))
        driver.received(FrameReceived(pipes[0].line, b"keep x"))

    session = drive(tmp_path, test)
    assert [frame for write in pipes[0].writes for frame in write] == [b"keep x", b"goodbye"]
    assert pipes[0].closes == [(1001, "server shutdown")]
    assert session.events[-1] == Closed(1, 1001)


def test_a_stop_does_not_wait_for_ever(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Stubborn(Pipe):
        def close(self, code: int, reason: str) -> None:
            pass

    async def main() -> None:
        session = EchoSession()
        async with running(session, tmp_path) as driver:
            pipe = Stubborn(driver)
            driver.opened(pipe)
            await driver.stop(0.05)
            assert pipe.aborted == 1
            driver.closed(pipe, 1006)

    uvloop.run(main())
    assert "did not end" in caplog.text


def test_what_was_stored_is_there_in_the_next_life(tmp_path: Path) -> None:
    async def first(driver: Driver, session: EchoSession) -> None:
        pipe = opened(driver)
        for raw in (b"keep x", b"keep y", b"drop x"):
            driver.received(FrameReceived(pipe.line, raw))
        await until(lambda: sum(map(len, pipe.writes)) == 3)

    async def second(driver: Driver, session: EchoSession) -> None:
        await until(lambda: session.seen(TimerFired))

    assert drive(tmp_path, first).records == {}
    session = drive(tmp_path, second)
    assert session.records == {("kept", "y"): b"y"}
    assert session.seen(TimerFired) == [TimerFired("restored")]


@pytest.mark.parametrize("is_kept", [False, True])
def test_every_frame_is_captured_with_its_outcome(tmp_path: Path, is_kept: bool) -> None:
    async def main() -> None:
        tap = Tap(CaptureWriter(tmp_path / "captures", "n1"), "n1", overloaded=lambda _: None)
        async with running(EchoSession(), tmp_path, tap=tap) as driver:
            pipe = opened(driver)
            driver.received(FrameReceived(pipe.line, b"name alice", True))
            driver.received(FrameReceived(pipe.line, b"keep k" if is_kept else b"plain", True))
            driver.received(FrameReceived(pipe.line, b"bad"))
            await until(lambda: sum(map(len, pipe.writes)) == 2)
        tap.close()

    uvloop.run(main())
    frames = captured(tmp_path / "captures")
    rows = [(one.direction, one.peer, one.outcome, one.reason, one.raw) for one in frames]
    said = b"keep k" if is_kept else b"plain"
    expected = [
        ("out", "alice", "delivered", None, b"name alice"),
        ("in", "alice", "accepted", None, b"name alice"),
        ("out", "alice", "delivered", None, said),
        ("in", "alice", "accepted", None, said),
        ("in", "alice", "rejected", "malformed", b"bad"),
        ("out", "alice", None, None, b"goodbye"),
    ]
    assert sorted(rows, key=repr) == sorted(expected, key=repr)
    assert {(one.node, one.protocol, one.link) for one in frames} == {("n1", "echo", "pipe")}


def rows(
    folder: Path, *events: FrameReceived | FrameRefused
) -> list[tuple[str, str | None, bytes]]:
    """What is captured of what comes in on one line."""

    async def main() -> None:
        tap = Tap(CaptureWriter(folder / "captures", "n1"), "n1", overloaded=lambda _: None)
        async with running(EchoSession(is_open=False), folder, tap=tap) as driver:
            opened(driver)
            for event in events:
                if isinstance(event, FrameReceived):
                    driver.received(event)
                else:
                    driver.refused(event)
        tap.close()

    uvloop.run(main())
    frames = captured(folder / "captures")
    return [(str(one.outcome), one.reason, one.raw) for one in frames if one.direction == "in"]


def test_a_frame_that_the_link_refused_is_captured_with_what_came_of_it(tmp_path: Path) -> None:
    event = FrameRefused(1, 3_000_000, b"its head", text=True, limit=2_000_000)
    assert rows(tmp_path, event) == [("rejected", "too_large", b"its head")]


def test_of_a_strangers_frame_the_beginning_is_captured(tmp_path: Path) -> None:
    long = b"x" * 13_000
    admitted = b"admit " + long
    frames = (FrameReceived(1, raw) for raw in (long, admitted, long))
    assert [raw for _, _, raw in rows(tmp_path, *frames)] == [long[:12_288], admitted, long]
