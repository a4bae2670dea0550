"""A session that is watched."""

import pytest

from sim.actors import Caller
from wireloom.sim.watched import Watched
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Command, Compose, Conclude, FrameReceived, Send, Spread, Turn

FINE = Conclude(Outcome.ACCEPTED)


class Saying(Caller):
    def __init__(self, *commands: Command) -> None:
        super().__init__()
        self.commands = commands

    def handle(self, event: object, turn: Turn) -> None:
        turn.commands += self.commands


@pytest.mark.parametrize(
    ("commands", "words"),
    [
        ((), "0 outcomes"),
        ((FINE, FINE), "2 outcomes"),
        ((FINE, Send(1, b"")), "its last command is Send"),
        ((Conclude(Outcome.REJECTED),), "a frame is rejected for the reason None"),
        ((Conclude(Outcome.ACCEPTED, Reason.STALE),), "a frame is accepted for the reason stale"),
    ],
)
def test_a_frame_without_exactly_one_outcome_is_told(
    commands: tuple[Command, ...], words: str
) -> None:
    told: list[str] = []
    Watched(Saying(*commands), told.append).handle(FrameReceived(1, b""), Turn(Ids("x")))
    assert len(told) == 1
    assert words in told[0]


def test_other_events_have_none() -> None:
    told: list[str] = []
    caller = Caller()
    Watched(caller, told.append).handle(caller.asks(FINE), Turn(Ids("x")))
    assert told == ["Requested has 1 outcomes"]


def test_what_is_right_is_not_told() -> None:
    told: list[str] = []
    caller = Caller(echoes=True)
    watched = Watched(caller, told.append)
    turn = Turn(Ids("x"))
    watched.handle(FrameReceived(1, b"a"), turn)
    watched.handle(caller.asks(Send(1, b"")), Turn(Ids("x")))
    watched.restore([], turn)
    assert (told, watched.gauges(), len(turn.commands)) == ([], {}, 2)


def test_a_witness_hears_what_comes_in_and_what_is_composed_for_nobody() -> None:
    class Note:
        def __init__(self) -> None:
            self.notes: list[bytes] = []
            self.composed = self.notes.append

        def heard(self, raw: bytes, conclusion: Conclude) -> None:
            self.notes.append(raw + conclusion.outcome.encode())

    note, caller = Note(), Caller(echoes=True)
    watched = Watched(caller, lambda _: None, note)
    watched.handle(FrameReceived(1, b"in"), Turn(Ids("x")))
    watched.handle(caller.asks(Compose(b"local", "ada"), Send(1, b"out")), Turn(Ids("x")))
    assert note.notes == [b"in" + Outcome.ACCEPTED.encode(), b"local"]


def test_whoever_asks_is_told_what_is_sent_and_when_each_frame_once() -> None:
    said: list[tuple[bytes, int]] = []
    caller = Caller()
    watched = Watched(caller, lambda _: None, says=lambda *one: said.append(one))
    spread = Spread((1, 2, 3), (b"all", b"all", b"one"))
    watched.handle(caller.asks(Send(1, b"to one"), spread), Turn(Ids("x"), 7))
    assert said == [(b"to one", 7), (b"all", 7), (b"one", 7)]
