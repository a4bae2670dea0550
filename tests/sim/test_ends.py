"""The ends of a connection without a socket."""

from typing import Any

from wireloom.sim.ends import End, Visitor


class Holder:
    """Notes what an end tells it."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def flush_later(self, end: End) -> None:
        self.told.append(("flush",))

    def closes(self, end: End, code: int, reason: str) -> None:
        self.told.append(("closes", code, reason))

    def received(self, end: End, raw: bytes, text: bool) -> None:
        self.told.append(("received", raw, text))

    def missed(self, end: End, raw: bytes) -> None:
        self.told.append(("missed", raw))

    def lost(self, end: End, code: int, reason: str) -> None:
        self.told.append(("lost", code))


def connected() -> tuple[Holder, End, Visitor]:
    holder = Holder()
    end = End(holder, "sim", "192.0.2.1:1")
    visitor = Visitor(end)
    end.far = visitor
    end.line = 7
    return holder, end, visitor


def test_frames_are_collected_until_the_machine_lets_them_out() -> None:
    holder, end, visitor = connected()
    end.put(b"a", False)
    end.put(b"b", True)
    end.close(1000, "enough")
    end.admit()
    assert holder.told == [("flush",), ("closes", 1000, "enough")]
    assert end.out == [(b"a", False), (b"b", True)]
    assert end.is_admitted
    assert visitor.line == 7


def test_a_visitor_speaks_until_it_left() -> None:
    holder, _, visitor = connected()
    visitor.send(b"hello", text=True)
    assert visitor.is_up
    visitor.leave(1001)
    visitor.leave()
    visitor.send(b"too late")
    assert holder.told == [("received", b"hello", True), ("lost", 1001), ("missed", b"too late")]
    assert not visitor.is_up


def test_a_visitor_notes_what_comes() -> None:
    _, _, visitor = connected()
    visitor.receive(b"hello", False, 0)
    visitor.ended(4000, "enough")
    assert list(visitor.inbox) == [(b"hello", False)]
    assert visitor.end == (4000, "enough")
