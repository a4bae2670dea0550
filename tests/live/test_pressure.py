"""Slow readers."""

from live.parts import Pipe
from wireloom.live.pressure import Pressure
from wireloom.wire.session import Congested


def pipe(line: int, stuck: int) -> Pipe:
    made = Pipe(None)
    made.line = line
    made.stuck = stuck
    return made


def test_a_connection_is_told_of_when_it_passes_a_mark_and_when_it_changes() -> None:
    pressure = Pressure()
    slow = pipe(3, 500)
    pressure.note(slow)
    pressure.note(slow)
    assert list(pressure.noted()) == [Congested(3, 0, 500)]
    assert list(pressure.noted()) == []
    assert list(pressure.tick()) == []
    slow.stuck = 700
    assert list(pressure.tick()) == [Congested(3, 0, 700)]
    assert pressure.named() == [("nowhere:1", 700)]
    slow.stuck = 0
    assert list(pressure.tick()) == [Congested(3, 0, 0)]
    assert len(pressure) == 0


def test_a_connection_that_is_gone_is_not_told_of() -> None:
    pressure = Pressure()
    slow, other = pipe(1, 500), pipe(2, 500)
    pressure.note(slow)
    list(pressure.noted())
    pressure.note(other)
    pressure.forget(slow)
    pressure.forget(other)
    assert list(pressure.noted()) == []
    assert list(pressure.tick()) == []
