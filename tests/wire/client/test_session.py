"""The lifecycle of every client: one connection after the other, as long as that makes sense."""

import pytest

from support.clients import Script
from wire.client.toys import ToyClient, ask, tell
from wireloom.wire.client.application import (
    Answered,
    Arrived,
    Ended,
    Failed,
    Open,
    Unsent,
    Withdraw,
)
from wireloom.wire.client.errors import (
    AnswerTimeoutError,
    ClosedError,
    LostError,
    UnreachableError,
    UnreadableError,
)
from wireloom.wire.client.states import State
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Close,
    Conclude,
    FrameReceived,
    FrameRefused,
    Opened,
    Stopping,
    TimerFired,
    Turn,
)


def script(*, up: bool = True) -> Script:
    made = Script(ToyClient())
    if up:
        made.opens()
        made.hears(b"welcome")
        assert made.sent.popleft() == b"hello"
    return made


def test_a_client_greets_asks_and_gets_answers() -> None:
    play = script()
    assert play.session.state is State.UP
    play.asks(ask("a"))
    play.asks(ask("b"))
    assert list(play.sent) == [b"a", b"b"]
    assert play.session.is_waiting
    play.hears(b"answer b two")
    play.hears(b"answer a one")
    play.hears(b"news")
    assert list(play.items) == [Answered("b", "two"), Answered("a", "one"), Arrived(b"news")]
    assert not play.timers
    assert play.session.gauges() == {"connections": 1, "held": 0, "asks": 0}


def test_it_keeps_nothing_across_a_crash() -> None:
    session = ToyClient()
    turn = Turn(session.ids)
    session.restore([], turn)
    assert turn.commands == []


def test_a_first_attempt_that_fails_is_the_callers() -> None:
    play = script(up=False)
    play.asks(Open())
    play.misses("nobody listens")
    ended = play.told()
    assert isinstance(ended.error, UnreachableError)
    assert str(ended.error) == "nobody listens"
    play.opens()
    play.hears(b"no")
    assert isinstance(play.told().error, UnreadableError)
    assert play.closes == [Close(1, 1000)]
    assert not play.timers
    assert play.session.state is State.CLOSED


def test_a_lost_connection_is_opened_again_after_longer_and_longer_pauses() -> None:
    play = script()
    play.loses(1001, "server_shutdown")
    pauses = []
    for _ in range(3):
        pauses.append(play.pause_ms())
        play.passes(pauses[-1])
        play.misses()
    pauses.append(play.pause_ms())
    play.passes(pauses[-1])
    play.reaches()
    play.hears(b"welcome")
    assert pauses == [1_000, 2_000, 4_000, 8_000]
    play.loses()
    assert play.pause_ms() == 1_000


def test_after_ten_attempts_the_client_gives_up() -> None:
    play = script()
    play.loses()
    pauses = []
    for _ in range(10):
        pauses.append(play.pause_ms())
        play.passes(pauses[-1])
        play.misses("nobody")
    assert [one // 1_000 for one in pauses] == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert str(play.told().error) == "nobody"
    assert not play.timers
    play.asks(ask("late"))
    failed = play.told()
    assert (failed.id, str(failed.error)) == ("late", "nobody")


def test_nobody_comes_back_from_a_final_error() -> None:
    play = script()
    play.asks(ask("a"))
    play.loses(4000, "over")
    failed, ended = play.told(), play.told()
    assert (failed.id, failed.error, ended) == ("a", ended.error, Ended(failed.error))
    assert isinstance(ended.error, LostError)
    assert not play.timers


def test_a_final_error_on_the_way_back_ends_it() -> None:
    play = script()
    play.loses()
    play.passes(1_000)
    play.reaches()
    play.loses(4000)
    assert isinstance(play.told(), Ended)
    assert not play.timers


def test_a_server_that_does_not_answer_the_greeting() -> None:
    play = script(up=False)
    play.opens()
    play.passes(4_999)
    assert not play.items
    play.passes(1)
    error = play.told().error
    assert isinstance(error, AnswerTimeoutError)
    assert str(error) == "no answer to the greeting within 5 s"


def test_requests_wait_for_a_connection_and_leave_in_order() -> None:
    play = script()
    play.loses()
    play.asks(ask("a"))
    play.asks(tell("b"))
    assert not play.sent
    assert play.session.gauges()["held"] == 2
    play.passes(1_000)
    play.reaches()
    play.hears(b"welcome")
    assert list(play.sent) == [b"hello", b"a", b"b"]
    assert play.told() == Answered("b")


def test_requests_wait_as_long_as_their_time_outs_let_them() -> None:
    play = script()
    play.asks(ask("under way", 2))
    play.passes(500)
    play.loses()
    assert isinstance(play.told().error, LostError)
    play.asks(ask("held", 0.2))
    play.asks(tell("told", 0.3))
    play.passes(300)
    held, told = play.told(), play.told()
    assert (held.id, str(held.error)) == ("held", "no answer came within 0.2 s")
    assert (told.id, str(told.error)) == ("told", "nothing could be sent for 0.3 s")


def test_an_answer_that_takes_too_long_is_not_waited_for() -> None:
    play = script()
    play.asks(ask("a", 1))
    play.passes(1_000)
    assert isinstance(play.told().error, AnswerTimeoutError)
    play.hears(b"answer a late")
    assert not play.items


def test_a_request_that_nobody_waits_for_is_forgotten() -> None:
    play = script()
    play.asks(ask("a"))
    play.asks(Withdraw("a"))
    play.asks(Withdraw("unknown"))
    play.hears(b"answer a late")
    assert not play.items
    assert not play.timers
    play.loses()
    play.asks(ask("b"))
    play.asks(Withdraw("b"))
    play.passes(1_000)
    play.reaches()
    play.hears(b"welcome")
    assert b"b" not in play.sent


def test_what_a_dying_connection_does_not_take_goes_to_the_next() -> None:
    play = script()
    play.asks(ask("a"))
    play.asks(ask("b"))
    play.asks(Unsent(ask("b"), play.line))
    play.asks(ask("c"))
    assert list(play.sent) == [b"a", b"b"]
    play.hears(b"answer a one")  # it came before the end
    assert play.told() == Answered("a", "one")
    play.loses()
    play.passes(1_000)
    play.reaches()
    play.hears(b"welcome")
    assert list(play.sent)[2:] == [b"hello", b"b", b"c"]
    assert isinstance(play.session, ToyClient)
    assert play.session.left == ["a", "b", "c"]


def test_what_cannot_be_written_fails_alone() -> None:
    play = script()
    play.asks(ask("bad"))
    play.asks(tell("good"))
    failed = play.told()
    assert (failed.id, str(failed.error)) == ("bad", "it is bad")
    assert play.told() == Answered("good")
    assert not play.timers


def test_a_client_that_is_not_open_sends_nothing() -> None:
    play = script(up=False)
    play.asks(ask("a"))
    assert isinstance(play.told().error, ClosedError)


def test_a_client_says_goodbye_and_fails_what_waits() -> None:
    play = script()
    play.asks(ask("a"))
    play.happens(Stopping())
    assert play.sent[-1] == b"goodbye"
    assert play.closes == [Close(1, 1000)]
    failed, ended = play.told(), play.told()
    assert isinstance(failed, Failed)
    assert isinstance(ended.error, ClosedError)
    assert not play.timers
    play.asks(tell("b"))
    assert isinstance(play.told().error, ClosedError)
    play.happens(Stopping())
    assert not play.items


@pytest.mark.parametrize("is_resting", [True, False])
def test_a_client_that_connects_may_be_closed(is_resting: bool) -> None:
    play = script()
    play.loses()
    if not is_resting:
        play.passes(1_000)
    play.happens(Stopping())
    assert isinstance(play.told().error, ClosedError)
    assert not play.dials
    assert not play.timers


def test_a_connection_that_comes_too_late_is_closed() -> None:
    play = script(up=False)
    play.asks(Open())
    dial = play.dials[0]
    play.happens(Stopping())
    play.line = 1
    play.happens(Opened(1, "server:1", dial=dial))
    assert play.closes == [Close(1, 1000)]


def test_every_frame_has_an_outcome_whenever_it_comes() -> None:
    play = script()
    play.happens(FrameReceived(7, b"of another connection"))
    assert play.conclusions[-1] == Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED)
    play.happens(FrameRefused(play.line, 10**7, b"", False, 10**6))
    assert play.conclusions[-1] == Conclude(Outcome.REJECTED, Reason.TOO_LARGE)


def test_a_server_may_end_a_connection_by_a_word() -> None:
    play = script()
    play.hears(b"end")
    assert play.closes == [Close(1, 1000)]
    assert play.pause_ms() == 1_000
    play.happens(TimerFired(("strange",)))
    assert play.session.state is State.RESTING
