"""Requests of the session's own, and answers of another class than expected."""

from support.clients import Script
from wire.client.toys import ToyClient, ask
from wireloom.wire.client.application import Request
from wireloom.wire.client.errors import ClientError, UnreadableError
from wireloom.wire.session import Turn


def up() -> Script:
    play = Script(ToyClient())
    play.opens()
    play.hears(b"welcome")
    play.sent.clear()
    return play


def test_an_answer_of_another_class_is_not_taken() -> None:
    play = up()
    play.asks(Request(id="a", seconds=1, answer=int))
    play.hears(b"answer a one")
    failed = play.told()
    assert isinstance(failed.error, UnreadableError)
    assert str(failed.error) == "the server answers with str"


def test_what_the_session_asks_itself_is_not_told_to_the_application() -> None:
    play = up()
    heard: list[str | ClientError] = []
    turn = Turn(play.session.ids, play.now_ms)
    play.session.ask_now(ask("own"), lambda answer, _: heard.append(answer), turn)
    play.hears(b"answer own yes")
    assert heard == ["yes"]
    assert not play.items


def test_a_connection_that_is_lost_settles_nothing_that_the_session_asked_itself() -> None:
    play = up()
    heard: list[str | ClientError] = []
    turn = Turn(play.session.ids, play.now_ms)
    play.session.ask_now(ask("own"), lambda answer, _: heard.append(answer), turn)
    play.loses()
    assert heard == []
