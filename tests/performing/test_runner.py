"""The runner: what a session hears, in which order, and what follows if it fails."""

from collections import Counter
from typing import Any

import pytest

from live.parts import EchoSession, Pipe
from wireloom.performing.performer import Performer
from wireloom.performing.runner import Runner
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Closed,
    Dial,
    DialFailed,
    Event,
    FrameReceived,
    FrameRefused,
    Opened,
    Requested,
    Store,
    TimerFired,
)

DIAL = Dial("tcp", "ada:1")


class Place:
    """A world in which frames go nowhere; its time is set by the test."""

    def __init__(self) -> None:
        self.now = 5_000_999_999
        self.records: list[Any] = []
        self.received: Counter[Any] = Counter()
        self.sent: Counter[Any] = Counter()
        self.failures: list[tuple[Event, Exception]] = []
        self.session = EchoSession()
        world: Any = self
        self.performer = Performer(
            "echo", connections=world, records=world, tap=None, counts=world, deliver=print
        )
        self.runner = Runner(self.session, self.performer, clock=world, failed=self.failed)

    def now_ns(self) -> int:
        return self.now

    def put(self, key: Any, value: Any) -> int:
        self.records.append((key, value))
        return len(self.records)

    def admitted(self, channel: Any) -> None:
        pass

    def dial(self, dial: Dial) -> None:
        pass

    def closed(self, pipe: Pipe, code: int) -> None:
        self.runner.end(pipe, code)

    def failed(self, event: Event, error: Exception) -> None:
        self.failures.append((event, error))

    def opens(self, dial: Dial | None = None) -> Pipe:
        pipe = Pipe(self)
        pipe.dial = dial
        self.runner.open(pipe)
        return pipe

    def left(self, pipe: Pipe) -> list[bytes]:
        pipe.flush()
        return [raw for write in pipe.writes for raw in write]


def test_lines_are_counted_and_beginnings_and_ends_are_heard_first() -> None:
    place = Place()
    first, second = place.opens(), place.opens()
    place.runner.catch_up()
    place.runner.inbox.append(FrameReceived(1, b"too late"))
    place.runner.inbox.append(FrameReceived(2, b"in time"))
    assert place.runner.end(first, 1006)
    assert not place.runner.end(first, 1006)
    assert place.runner.is_behind
    assert place.runner.catch_up()
    assert not place.runner.catch_up()
    heard = [Closed(1, 1006), FrameReceived(2, b"in time")]
    came = [Opened(line, "nowhere:1", link="pipe") for line in (1, 2)]
    assert place.session.events == [*came, *heard]
    assert place.left(second) == [b"in time"]


def test_frames_behind_one_that_ended_its_line_are_not_heard() -> None:
    place = Place()
    place.opens()
    for raw in (b"bye 4000", b"too late"):
        place.runner.inbox.append(FrameReceived(1, raw))
    place.runner.catch_up()
    assert [event.raw for event in place.session.seen(FrameReceived)] == [b"bye 4000"]
    assert place.session.events[-1] == Closed(1, 4000)


def test_while_the_world_cannot_keep_up_only_beginnings_and_ends_are_heard() -> None:
    place = Place()
    pipe = place.opens()
    place.runner.hear(FrameReceived(1, b"wake 0"))
    place.runner.is_paused = True
    place.runner.hear(FrameReceived(1, b"later"))
    assert place.runner.next_timer_ms() is None
    place.runner.fire(9)
    place.opens()
    place.runner.catch_up()
    assert place.session.events[-1] == Opened(2, "nowhere:1", link="pipe")
    assert not place.runner.is_behind
    place.runner.is_paused = False
    assert place.runner.is_behind
    place.runner.catch_up()
    assert place.left(pipe) == [b"later"]
    assert place.runner.next_timer_ms() == 5_000


def test_timers_fire_when_they_are_due_and_not_too_many_at_once() -> None:
    place = Place()
    place.opens()
    for number in range(4):
        place.runner.hear(FrameReceived(1, b"wake %d" % number))
    place.runner.fire(9)
    assert [timer[1] for (timer,) in _fired(place)] == [b"wake 0"]
    place.now += 5_000_000
    place.runner.fire(2)
    assert len(_fired(place)) == 3
    assert place.runner.next_timer_ms() == 5_003


def _fired(place: Place) -> list[tuple[Any]]:
    return [(event.timer,) for event in place.session.seen(TimerFired)]


@pytest.mark.parametrize(
    "event",
    [FrameReceived(1, b"fail"), FrameRefused(1, 9, b"fail", text=False, limit=1)],
    ids=["received", "refused"],
)
def test_a_session_that_fails_costs_the_line_and_the_frame_is_concluded(event: Event) -> None:
    place = Place()
    pipe = place.opens()
    place.session.wants = lambda *_: 1 // 0  # type: ignore[method-assign, assignment]
    place.runner.hear(event)
    assert pipe.closes == [(1011, "internal error")]
    assert place.received == {(None, Outcome.REJECTED, Reason.INTERNAL): 1}
    assert place.failures[1][0] == event
    assert isinstance(place.failures[1][1], ZeroDivisionError)


def test_a_failure_on_another_event_costs_nothing() -> None:
    place = Place()
    pipe = place.opens()
    place.runner.catch_up()
    place.session.wants = lambda *_: 1 // 0  # type: ignore[method-assign, assignment]
    place.runner.hear(Requested("x"))
    assert [type(event) for event, _ in place.failures] == [Requested]
    assert pipe.closes == []


def test_what_was_stored_is_restored_and_what_follows_a_record_waits() -> None:
    place = Place()
    place.runner.start([Store("kept", "x", b"x")])
    assert place.session.records == {("kept", "x"): b"x"}
    assert place.runner.next_timer_ms() == 0
    pipe = place.opens()
    place.runner.hear(FrameReceived(1, b"keep y"))
    assert place.left(pipe) == []
    place.runner.release(1)
    assert place.left(pipe) == [b"keep y"]


def test_a_dial_is_answered_by_its_connection_or_its_failure() -> None:
    place = Place()
    assert not place.runner.open(dialling(place))
    place.performer.perform([([DIAL], None, b"")], 0)
    pipe = dialling(place)
    assert place.runner.open(pipe)
    place.runner.catch_up()
    assert place.session.events == [Opened(pipe.line, "nowhere:1", dial=DIAL, link="pipe")]
    place.runner.fail(DIAL, "refused")
    place.runner.end(pipe, 1000)
    place.performer.perform([([DIAL], None, b"")], 0)
    place.runner.fail(DIAL, "refused")
    place.runner.fail(DIAL, "refused")
    assert place.session.events[1:] == [Closed(pipe.line, 1000), DialFailed(DIAL, "refused")]


def dialling(place: Place) -> Pipe:
    pipe = Pipe(place)
    pipe.dial = DIAL
    return pipe
