"""One simulated machine: visitors, records, crashes and faults."""

import pytest

from sim.actors import Caller
from wireloom.capture.meanings import COMPOSED, SENT
from wireloom.capture.rows import Rows
from wireloom.sim.machine import Machine
from wireloom.sim.network import Quality
from wireloom.sim.world import World
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Admit,
    Cancel,
    Close,
    Closed,
    Compose,
    Compute,
    Computed,
    Deliver,
    Dial,
    Forget,
    FrameReceived,
    Opened,
    Requested,
    Send,
    Store,
    TimerFired,
    WakeAt,
)


class Rolls:
    def __init__(self) -> None:
        self.rows = Rows()


def started(*, echoes: bool = True, tap: Rolls | None = None) -> tuple[World, Machine, Caller]:
    world, session = World(), Caller(echoes=echoes)
    machine = world.add("hub", "echo", tap=tap)
    machine.start(session)
    return world, machine, session


def test_a_visitor_is_answered() -> None:
    _, machine, session = started()
    visitor = machine.visit("192.0.2.1:1", identity="ada", token="secret")
    visitor.send(b"hello", text=True)
    assert list(visitor.inbox) == [(b"hello", True)]
    assert session.events() == [
        Opened(1, "192.0.2.1:1", "ada", "secret", link="sim"),
        FrameReceived(1, b"hello", text=True),
    ]
    assert machine.counts.received == {("said", Outcome.ACCEPTED, None): 1}
    assert machine.counts.sent == {None: 1}


def test_either_side_ends_a_connection_after_what_was_sent() -> None:
    _, machine, session = started()
    first, second = machine.visit("a:1"), machine.visit("b:1")
    machine.hear(session.asks(Admit(1), Send(1, b"bye"), Close(1, 4000, "enough"), Close(1, 1000)))
    assert (list(first.inbox), first.end) == ([(b"bye", False)], (4000, "enough"))
    second.leave(1001)
    first.send(b"too late")
    assert session.events()[2:] == [Closed(1, 4000), Closed(2, 1001)]


def test_what_follows_a_record_waits_until_it_is_kept() -> None:
    _, machine, session = started()
    visitor = machine.visit("a:1")
    promise = (Store("kept", "x", b"x"), Send(1, b"kept"), Deliver("kept"))
    machine.hear(session.asks(*promise))
    assert list(visitor.inbox) == [(b"kept", False)]
    machine.records.is_slow = True
    machine.hear(session.asks(*promise))
    assert len(visitor.inbox) == len(machine.delivered) == 1
    machine.sync()
    assert len(visitor.inbox) == len(machine.delivered) == 2


def test_a_crash_loses_what_was_not_kept_and_the_next_life_gets_the_rest() -> None:
    world, machine, session = started()
    visitor = machine.visit("a:1")
    machine.hear(session.asks(Store("kept", "x", b"x"), WakeAt("late", 5)))
    machine.records.is_slow = True
    machine.hear(session.asks(Forget("kept", "x"), Store("kept", "y", b"y"), Send(1, b"promise")))
    machine.crash()
    assert not machine.is_up
    assert (list(visitor.inbox), visitor.end) == ([], (1006, ""))
    assert machine.next_timer_ms() is None
    world.pass_time(10)
    machine.start(again := Caller())
    assert again.restored == [Store("kept", "x", b"x")]
    assert machine.visit("a:2").line == 2
    assert session.events() == [Opened(1, "a:1", link="sim")]


def test_a_fault_of_the_session_is_kept_and_costs_one_line() -> None:
    _, machine, _ = started()
    bad, good = machine.visit("a:1"), machine.visit("b:1")
    bad.send(b"fail")
    good.send(b"fine")
    assert bad.end == (1011, "internal error")
    assert list(good.inbox) == [(b"fine", False)]
    assert [str(fault) for fault in machine.faults] == ["as you like"]
    assert machine.counts.received[None, Outcome.REJECTED, Reason.INTERNAL] == 1


def test_frames_are_captured_where_there_is_a_tap() -> None:
    tap = Rolls()
    _, machine, session = started(tap=tap)
    machine.visit("a:1")
    machine.hear(session.asks(Send(1, b"one"), Compose(b"two", "bob")))
    assert tap.rows.frames == [b"one", b"two"]
    assert list(tap.rows.meanings) == [SENT[None], COMPOSED]


def test_nothing_can_be_told_to_a_machine_that_does_not_run() -> None:
    machine = World().add("hub", "echo")
    with pytest.raises(AssertionError, match="hub does not run"):
        machine.hear(Requested(()))


def test_records_take_as_long_as_the_disk() -> None:
    world, machine, session = started()
    machine.disk_ns = 5_000_000
    visitor = machine.visit("a:1")
    machine.hear(session.asks(Store("kept", "x", b"x"), Send(1, b"one")))
    world.pass_time(4)
    machine.hear(session.asks(Store("kept", "y", b"y"), Send(1, b"two")))
    assert not visitor.inbox
    world.pass_time(1)
    assert [raw for raw, _ in visitor.inbox] == [b"one"]
    assert list(machine.records.kept) == [("kept", "x")]
    world.pass_time(5)
    assert [raw for raw, _ in visitor.inbox] == [b"one", b"two"]


def test_no_timer_fires_while_a_process_is_stopped() -> None:
    world, machine, session = started()
    machine.hear(session.asks(WakeAt("x", 5)))
    machine.pause()
    machine.hear(session.asks(Deliver("late")))
    world.pass_time(10)
    assert machine.is_paused
    assert (machine.delivered, session.heard) == ([], [])
    machine.resume()
    world.pass_time(1)
    assert machine.delivered == ["late"]
    assert session.heard == [(10, TimerFired("x"))]


def test_a_machine_that_vanishes_is_missed_only_later() -> None:
    world = World()
    (ada, a), (bob, b) = ((world.add(name, "echo"), Caller()) for name in ("ada", "bob"))
    ada.start(a)
    bob.start(b)
    world.listen(bob, "tcp", "bob:1")
    missed: list[bytes] = []
    bob.misses = missed.append
    ada.hear(a.asks(Dial("tcp", "bob:1")))
    bob.crash(is_silent=True)
    ada.hear(a.asks(Send(1, b"lost")))
    world.pass_time(59_999)
    assert len(a.heard) == 1
    assert missed == [b"lost"]
    world.pass_time(1)
    assert a.heard[1:] == [(60_000, Closed(1, 1006))]


def test_a_connection_that_breaks_loses_what_is_under_way() -> None:
    world = World()
    (ada, a), (bob, b) = ((world.add(name, "echo"), Caller()) for name in ("ada", "bob"))
    ada.start(a)
    bob.start(b)
    world.listen(bob, "tcp", "bob:1")
    missed: list[bytes] = []
    bob.misses = missed.append
    ada.hear(a.asks(Dial("tcp", "bob:1")))
    world.network.quality = Quality(delay_ms=5)
    ada.hear(a.asks(Send(1, b"lost")))
    ada.ends[0].break_off()
    world.pass_time(10)
    assert a.events()[1:] == [Closed(1, 1006)]
    assert b.events()[1:] == [Closed(1, 1006)]
    assert missed == [b"lost"]


def third(part: int) -> int | None:
    return part if part == 2 else None


def test_what_takes_long_is_computed_at_once_unless_it_is_cancelled() -> None:
    _, machine, session = started()
    machine.hear(session.asks(Compute("a", third), Compute("b", third), Cancel("b")))
    assert session.events() == [Computed("a", 2)]
