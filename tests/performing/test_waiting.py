"""What waits for the disk, by itself."""

from live.parts import Pipe
from wireloom.performing.waiting import Waiting
from wireloom.wire.session import Close, Send


def test_commands_wait_for_their_tickets_and_behind_each_other() -> None:
    waiting, pipe, other = Waiting(), Pipe(None), Pipe(None)
    first, second, third = Send(1, b"a"), Close(1, 1000), Send(2, b"b")
    waiting.add(pipe, 5, first)
    waiting.add(pipe, 0, second)
    waiting.add(other, 7, third)
    assert len(waiting) == 3
    assert waiting.size == 2
    assert waiting.channels == {pipe, other}
    assert list(waiting.commands(4)) == []
    assert list(waiting.commands(5)) == [(pipe, first), (pipe, second)]
    assert waiting.channels == {other}
    assert list(waiting.commands(9)) == [(other, third)]
    assert not waiting
    assert waiting.size == 0


def test_items_wait_in_their_order() -> None:
    waiting = Waiting()
    assert not waiting.has_items
    waiting.add_item(3, "a")
    waiting.add_item(0, "b")
    waiting.add_item(4, "c")
    assert waiting.has_items
    assert len(waiting) == 3
    assert list(waiting.items(3)) == ["a", "b"]
    assert list(waiting.items(4)) == ["c"]
    assert not waiting.has_items


def test_what_waits_for_a_connection_that_ended_is_dropped() -> None:
    waiting, pipe = Waiting(), Pipe(None)
    waiting.add(pipe, 1, Send(1, b"a"))
    waiting.add(pipe, 1, Send(1, b"b"))
    for connection, _ in waiting.commands(1):
        waiting.forget(connection)
    assert not pipe.held
    assert waiting.size == 0
    assert not waiting
