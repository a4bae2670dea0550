"""Requests that wait for their answers."""

from wireloom.wire.client.asks import Asks
from wireloom.wire.client.errors import ClientError
from wireloom.wire.ids import Ids
from wireloom.wire.session import Turn

TURN = Turn(Ids("asks"))
ERROR = ClientError("no")


class Desk:
    """Asks whose answers are written down."""

    def __init__(self, *ids: str) -> None:
        self.asks: Asks[str] = Asks()
        self.settled: list[tuple[str, object]] = []
        for one in ids:
            self.expect(one)

    def expect(self, message_id: str, wanted: type = str) -> None:
        def settle(answer: object, turn: Turn) -> None:
            assert turn is TURN
            self.settled.append((message_id, answer))

        self.asks.expect(message_id, wanted, settle)


def test_an_answer_settles_the_request_that_it_names() -> None:
    desk = Desk("a", "b")
    assert desk.asks.answer("b", "two", TURN)
    assert not desk.asks.answer("b", "again", TURN)
    assert not desk.asks.answer(None, "for nobody", TURN)
    assert desk.asks.answer("a", ERROR, TURN)
    assert desk.settled == [("b", "two"), ("a", ERROR)]
    assert len(desk.asks) == 0


def test_the_oldest_that_waits_for_such_an_answer() -> None:
    desk = Desk()
    desk.expect("a", int)
    desk.expect("b", str)
    desk.expect("c", str)
    assert desk.asks.oldest(str) == "b"
    assert desk.asks.oldest(bytes) is None


def test_a_frame_that_cannot_be_read_fails_those_that_it_names() -> None:
    desk = Desk("id-1", "id-2")
    assert desk.asks.fail_unread(b'{"about":"id-2"', ERROR, TURN)
    assert desk.settled == [("id-2", ERROR)]
    assert not desk.asks.fail_unread(b"nonsense", ERROR, TURN, named_only=True)
    assert desk.asks.fail_unread(b"nonsense", ERROR, TURN)
    assert desk.settled == [("id-2", ERROR), ("id-1", ERROR)]
    assert not desk.asks.fail_unread(b"nonsense", ERROR, TURN)


def test_all_fail_together() -> None:
    desk = Desk("a", "b")
    desk.asks.fail_all(ERROR, TURN)
    assert desk.settled == [("a", ERROR), ("b", ERROR)]


def test_what_is_forgotten_is_not_settled() -> None:
    desk = Desk("a")
    assert desk.asks.forget("a")
    assert not desk.asks.forget("a")
    assert not desk.asks.answer("a", "late", TURN)
    assert desk.settled == []
