"""Timers by name."""

from wireloom.performing.timers import Timers


def test_timers_are_due_in_order_and_once() -> None:
    timers = Timers()
    for name, at_ms in (("b", 20), ("a", 10), ("c", 30)):
        timers.set(name, at_ms)
    assert timers.next_at() == 10
    assert list(timers.due(20)) == ["a", "b"]
    assert list(timers.due(20)) == []
    assert timers.next_at() == 30
    assert len(timers) == 1


def test_a_timer_is_set_anew_or_taken_back() -> None:
    timers = Timers()
    timers.set("a", 10)
    timers.set("a", 50)
    timers.set("b", 20)
    timers.set("b", None)
    timers.set("never", None)
    assert list(timers.due(49)) == []
    assert list(timers.due(50)) == ["a"]
    assert timers.next_at() is None
    assert len(timers) == 0


def test_timers_of_the_same_time_come_in_the_order_they_were_set() -> None:
    timers = Timers()
    for name in ("z", ("line", 3), 1):
        timers.set(name, 5)
    assert list(timers.due(5)) == ["z", ("line", 3), 1]


def test_a_timer_may_be_set_while_others_fire() -> None:
    timers = Timers()
    timers.set("a", 1)
    fired = []
    for timer in timers.due(10):
        fired.append(timer)
        if len(fired) < 3:
            timers.set("a", 2)
    assert fired == ["a", "a", "a"]


def test_a_timer_that_is_always_set_anew_takes_no_room() -> None:
    timers = Timers()
    timers.set("other", 5)
    for at_ms in range(10_000):
        timers.set("heartbeat", at_ms)
    assert len(timers._heap) < 200
    assert list(timers.due(9_999)) == ["other", "heartbeat"]
