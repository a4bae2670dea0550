"""WebSockets seen from beside them."""

import random

import pytest

from capture.wire import Talk
from wireloom.capture.importers import websockets
from wireloom.capture.importers.websockets import Side, Tap, WsMessage
from wireloom.capture.refusal import ForeignError, UnreadableError

REQUEST = b"GET /hub?x=1 HTTP/1.1\r\nHost: h\r\nUpgrade: WebSocket\r\n\r\n"
ANSWER = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"


def side(from_client: bool) -> Side:
    return Side.CLIENT if from_client else Side.SERVER


def heard(talk: Talk, size: int = 7) -> list[WsMessage]:
    tap = Tap()
    messages = []
    for from_client, raw in talk.said:
        for begin in range(0, len(raw), size):
            messages += tap.feed(side(from_client), raw[begin : begin + size])
    return messages


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_messages_of_both_directions_are_heard(compressed: bool, size: int) -> None:
    talk = Talk("/hub", compressed=compressed)
    talk.say(True, '{"a": 1}')
    talk.say(False, b"\x01\x01" * 500)
    talk.say(True, "in ", finished=False)
    talk.say(True, "parts")
    talk.say(False, b"")
    talk.say(True, '{"a": 1}' * 50)
    assert heard(talk, size) == [
        WsMessage("/hub", True, b'{"a": 1}'),
        WsMessage("/hub", False, b"\x01\x01" * 500),
        WsMessage("/hub", True, b"in parts"),
        WsMessage("/hub", False, b""),
        WsMessage("/hub", True, b'{"a": 1}' * 50),
    ]


def test_heads_may_come_in_any_order_with_messages_behind_them() -> None:
    talk = Talk("/hub")
    talk.say(True, "early")
    talk.say(False, "bird")
    by_side = {one: b"".join(raw for who, raw in talk.said if side(who) is one) for one in Side}
    tap = Tap()
    assert tap.feed(Side.SERVER, by_side[Side.SERVER]) == []
    assert not tap.is_open
    assert [one.data for one in tap.feed(Side.CLIENT, by_side[Side.CLIENT])] == [b"early", b"bird"]
    assert tap.is_open


def test_a_query_is_no_part_of_the_path() -> None:
    tap = Tap()
    tap.feed(Side.CLIENT, REQUEST)
    tap.feed(Side.SERVER, ANSWER)
    assert tap.feed(Side.SERVER, b"\x81\x02hi") == [WsMessage("/hub", True, b"hi")]


def test_control_frames_are_passed_over_and_a_close_ends_nothing_worse() -> None:
    tap = Tap()
    tap.feed(Side.CLIENT, REQUEST)
    tap.feed(Side.SERVER, ANSWER)
    assert tap.feed(Side.SERVER, b"\x89\x00\x8a\x00\x88\x00") == []
    assert tap.feed(Side.SERVER, b"after the end") == []


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (b"\x16\x03\x01\x02\x00", b""),
        (b"G", b"\r\n"),
        (b"POST / HTTP/1.1\r\n\r\n", b""),
        (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", b""),
        (b"GET /\r\nUpgrade: websocket\r\n\r\n", b""),
        (REQUEST, b"HTTP/1.1 404 Not Found\r\n\r\n"),
        (REQUEST, b"nonsense\r\n\r\n"),
        (b"GET /" + b"x" * 70_000, b""),
    ],
)
def test_what_is_no_websocket_is_of_others(request_: bytes, answer: bytes) -> None:
    tap = Tap()

    def feed() -> None:
        tap.feed(Side.CLIENT, request_)
        tap.feed(Side.SERVER, answer)
        tap.feed(Side.CLIENT, b"ive me")

    with pytest.raises(ForeignError):
        feed()


@pytest.mark.parametrize(
    "agreed",
    [
        b"permessage-deflate; client_max_window_bits=99",
        b"permessage-deflate; server_max_window_bits",
        b"x-other",
    ],
)
def test_an_extension_that_is_not_known_cannot_be_followed(agreed: bytes) -> None:
    tap = Tap()
    tap.feed(Side.CLIENT, REQUEST)
    answer = ANSWER[:-2] + b"Sec-WebSocket-Extensions: " + agreed + b"\r\n\r\n"
    with pytest.raises(UnreadableError, match="the extension"):
        tap.feed(Side.SERVER, answer)


def test_damaged_frames_cannot_be_followed() -> None:
    tap = Tap()
    tap.feed(Side.CLIENT, REQUEST)
    tap.feed(Side.SERVER, ANSWER)
    with pytest.raises(UnreadableError, match="damaged WebSocket frames"):
        tap.feed(Side.SERVER, b"\xff\xff\xff\xff")


def test_a_server_that_speaks_for_ever_before_the_request_is_given_up() -> None:
    tap = Tap()
    with pytest.raises(UnreadableError, match="does not end"):
        tap.feed(Side.SERVER, bytes(websockets.MAX_EARLY_SIZE + 1))


def test_a_message_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websockets, "MAX_MESSAGE_SIZE", 100)
    talk = Talk()
    talk.say(True, bytes(101))
    with pytest.raises(UnreadableError, match="more than 100 bytes"):
        heard(talk)


def test_no_damage_to_a_connection_raises_anything_else() -> None:
    talk = Talk("/hub", compressed=True)
    for number in range(4):
        talk.say(True, "text " * number)
        talk.say(False, bytes(number * 30))
    source = random.Random(8)
    for _ in range(1500):
        tap = Tap()
        try:
            for from_client, raw in talk.said:
                spoilt = bytearray(raw)
                for _ in range(source.choice([0, 0, 1, 2])):
                    spoilt[source.randrange(len(spoilt))] = source.randrange(256)
                tap.feed(side(from_client), bytes(spoilt))
        except (ForeignError, UnreadableError):
            pass
