"""Machines that dial each other, on a clock that only tests move."""

import pytest

from sim.actors import Caller
from wireloom.sim import world as module
from wireloom.sim.machine import Machine
from wireloom.sim.world import VirtualClock, World
from wireloom.wire.session import (
    Abandon,
    Closed,
    Dial,
    DialFailed,
    FrameReceived,
    Opened,
    Send,
    Store,
    TimerFired,
    WakeAt,
)

BOB = Dial("tcp", "bob:1")


def add(world: World, name: str) -> tuple[Machine, Caller]:
    machine, session = world.add(name, "echo"), Caller()
    machine.start(session)
    world.listen(machine, "tcp", f"{name}:1")
    return machine, session


def test_a_clock_stands_still_until_it_is_set() -> None:
    clock = VirtualClock(5)
    assert clock.now_ns() == clock.now_ns() == 5_000_000
    clock.set(2_000)
    assert (clock.now_ns(), clock.elapsed()) == (2_000_000_000, 2.0)


def test_timers_of_all_machines_fire_in_the_order_of_time() -> None:
    world = World(1_000)
    (ada, a), (bob, b) = add(world, "ada"), add(world, "bob")
    ada.hear(a.asks(WakeAt("late", 1_030), WakeAt("tie", 1_020)))
    bob.hear(b.asks(WakeAt("early", 1_010), WakeAt("tie", 1_020), WakeAt("overdue", 0)))
    world.pass_time(25)
    assert world.now_ms == 1_025
    assert a.heard == [(1_020, TimerFired("tie"))]
    assert b.heard == [
        (1_000, TimerFired("overdue")),
        (1_010, TimerFired("early")),
        (1_020, TimerFired("tie")),
    ]
    world.pass_time(5)
    assert a.heard[1:] == [(1_030, TimerFired("late"))]


def test_one_machine_dials_another_and_either_may_end_it() -> None:
    world = World()
    (ada, a), (bob, b) = add(world, "ada"), add(world, "bob")
    ada.hear(a.asks(BOB, BOB))
    assert a.events() == [Opened(1, "bob:1", dial=BOB, link="tcp")]
    assert b.events() == [Opened(1, "ada", link="tcp")]
    ada.hear(a.asks(Send(1, b"one"), Send(1, b"two", text=True)))
    assert b.events()[1:] == [FrameReceived(1, b"one"), FrameReceived(1, b"two", text=True)]
    bob.hear(
        b.asks(Send(1, b"bye"), Store("kept", "x", b"x"), Abandon("tcp", "ada"), Send(1, b"!"))
    )
    ada.hear(a.asks(Send(1, b"last"), Abandon("tcp", "bob:1")))
    assert b.events()[3:] == [FrameReceived(1, b"last"), Closed(1, 1000, "not needed")]
    assert a.events()[1:] == [FrameReceived(1, b"bye"), FrameReceived(1, b"!"), Closed(1, 1000)]
    ada.hear(a.asks(BOB))
    assert a.events()[-1] == Opened(2, "bob:1", dial=BOB, link="tcp")


def test_a_dial_fails_where_nobody_listens_or_the_machine_is_down() -> None:
    world = World()
    (ada, a), (bob, _) = add(world, "ada"), add(world, "bob")
    bob.crash()
    ada.hear(a.asks(BOB, Dial("tcp", "nobody:1")))
    assert a.events() == [
        DialFailed(BOB, "refused"),
        DialFailed(Dial("tcp", "nobody:1"), "refused"),
    ]


def test_an_abandoned_attempt_opens_nothing_at_either_end() -> None:
    world = World()
    (ada, a), (_, b) = add(world, "ada"), add(world, "bob")
    ada.hear(a.asks(BOB, Abandon("tcp", "bob:1")))
    assert a.events() == b.events() == []


def test_a_crash_ends_lines_at_their_other_ends_and_attempts_at_once() -> None:
    world = World()
    (ada, a), (bob, b) = add(world, "ada"), add(world, "bob")
    ada.hear(a.asks(BOB))
    bob.crash()
    assert a.events()[1:] == [Closed(1, 1006)]
    world.post(lambda: ada.hear(a.asks(BOB)))
    world.post(ada.crash)
    world.settle()
    assert a.events()[2:] == []
    assert b.events() == [Opened(1, "ada", link="tcp")]


def test_a_world_that_does_not_come_to_rest_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ARRIVALS", 100)
    world = World()
    ada, a = add(world, "ada")
    bob = world.add("bob", "echo")
    world.listen(bob, "tcp", "bob:1")
    bob.start(Caller(echoes=True))
    a.echoes = True
    ada.hear(a.asks(BOB))
    with pytest.raises(RuntimeError, match="does not come to rest"):
        ada.hear(a.asks(Send(1, b"for ever")))
