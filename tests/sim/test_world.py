"""Machines that dial each other, on a clock that only tests move."""

import pytest

from sim.actors import Caller
from wireloom.sim import world as module
from wireloom.sim.machine import Machine
from wireloom.sim.network import Quality
from wireloom.sim.world import World
from wireloom.wire.session import (
    Abandon,
    Close,
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


def test_a_connection_takes_a_round_trip_and_a_frame_its_delay() -> None:
    world = World()
    world.network.quality = Quality(delay_ms=10)
    (ada, a), (_, b) = add(world, "ada"), add(world, "bob")
    ada.hear(a.asks(BOB))
    world.pass_time(25)
    ada.hear(a.asks(Send(1, b"one"), Close(1, 1000)))
    world.pass_time(25)
    assert a.heard == [(20, Opened(1, "bob:1", dial=BOB, link="tcp")), (25, Closed(1, 1000))]
    assert b.heard == [
        (20, Opened(1, "ada", link="tcp")),
        (35, FrameReceived(1, b"one")),
        (35, Closed(1, 1000)),
    ]


def test_nobody_answers_across_a_cut() -> None:
    world = World()
    (ada, a), (_, b) = add(world, "ada"), add(world, "bob")
    world.network.cut("west", ["ada"])
    ada.hear(a.asks(BOB))
    world.pass_time(10_000)
    assert (a.events(), b.events()) == ([DialFailed(BOB, "no answer")], [])


def test_timers_follow_the_clock_of_their_machine() -> None:
    world = World(1_000)
    fast, session = world.add("fast", "echo", skew_ms=500), Caller()
    fast.start(session)
    fast.hear(session.asks(WakeAt("x", 1_510)))
    world.pass_time(10)
    assert session.heard == [(1_510, TimerFired("x"))]


def test_who_dials_and_dies_meanwhile_hears_nothing() -> None:
    world = World()
    world.network.quality = Quality(delay_ms=10)
    (ada, a), (bob, b) = add(world, "ada"), add(world, "bob")
    ada.hear(a.asks(BOB))
    world.pass_time(5)
    ada.crash()
    ada.start(again := Caller())
    world.pass_time(50)
    assert a.events() == again.events() == b.events() == []
    ada.hear(again.asks(BOB))
    bob.crash()
    world.pass_time(50)
    assert again.events() == [DialFailed(BOB, "refused")]


def test_a_stream_ends_when_its_ends_stay_out_of_reach() -> None:
    world = World()
    (ada, a), (bob, b) = add(world, "ada"), add(world, "bob")
    ada.hear(a.asks(BOB))
    world.network.cut("west", ["ada"])
    world.part(ada, bob)
    ada.hear(a.asks(Send(1, b"held")))
    world.pass_time(59_000)
    assert list(world.under_way()) == [(bob, b"held")]
    assert len(a.heard) == len(b.heard) == 1
    world.pass_time(2_000)
    assert a.events()[1:] == b.events()[1:] == [Closed(1, 1006)]


def test_a_stream_outlasts_a_short_cut() -> None:
    world = World()
    (ada, a), (bob, b) = add(world, "ada"), add(world, "bob")
    ada.hear(a.asks(BOB))
    world.network.cut("west", ["ada"])
    world.part(ada, bob)
    ada.hear(a.asks(Send(1, b"held")))
    world.network.heal("west")
    world.pass_time(61_000)
    assert b.events()[1:] == [FrameReceived(1, b"held")]
