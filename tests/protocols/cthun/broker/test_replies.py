"""What the broker itself says, byte by byte."""

import re

import pytest
from msgspec.structs import replace

from protocols.cthun.samples import AGENT, ID
from wireloom.protocols.cthun import chunks
from wireloom.protocols.cthun.broker.clients import Client, Step
from wireloom.protocols.cthun.broker.inventory import Inventory
from wireloom.protocols.cthun.broker.replies import Replies
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.codec import decode
from wireloom.protocols.cthun.constants import BROKER_URI
from wireloom.protocols.cthun.messages import (
    BrokerData,
    ErrorMessage,
    InventoryResponse,
    TtlExpired,
)
from wireloom.wire import slow as module
from wireloom.wire.ids import Ids
from wireloom.wire.session import Close, Command, Send, Turn

NOW_MS = 1_430_136_000_000


class Telling(Replies):
    """Replies whose commands are given back."""

    def __init__(self, boot: str = "boot", **limits: int) -> None:
        super().__init__(replace(BrokerSettings(), **limits), Inventory())
        self.turn = Turn(Ids(boot))

    def says(
        self, client: Client, data: BrokerData, now_ms: int, *, to: str | None = None
    ) -> list[Command]:
        commands = self.turn.begin(now_ms)
        self.tell(self.turn, client, data, to=to)
        return commands


def client(uri: str | None = AGENT) -> Client:
    known = Client(3, None, 0)
    if uri is not None:
        known.associate(uri)
    return known


def test_a_reply_comes_from_the_broker_and_lives_for_three_seconds() -> None:
    (send,) = Telling().says(client(), TtlExpired(id=ID), NOW_MS)
    assert isinstance(send, Send)
    assert (send.line, send.text, send.outcome) == (3, False, None)
    packet = decode(send.raw)
    assert packet.envelope.sender == BROKER_URI
    assert packet.envelope.targets == (AGENT,)
    assert packet.envelope.expires == "2015-04-27T12:00:03.000Z"
    assert packet.data == TtlExpired(id=ID)
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-0{11}1", send_id(send))


def send_id(send: Send) -> str:
    return decode(send.raw).envelope.id


def test_ids_differ_within_a_life_and_between_lives() -> None:
    ids = set()
    for boot in ("one", "two"):
        telling = Telling(boot)
        for _ in range(3):
            (send,) = telling.says(client(), TtlExpired(id=ID), NOW_MS)
            assert isinstance(send, Send)
            ids.add(send_id(send))
    assert len(ids) == 6


def test_nothing_outside_the_published_schema_stands_in_an_envelope() -> None:
    (send,) = Telling().says(client(), TtlExpired(id=ID), NOW_MS)
    assert isinstance(send, Send)
    assert b"in-reply-to" not in send.raw
    assert b"destination_report" not in send.raw


def test_a_client_without_name_is_told_by_the_name_it_gave_or_by_none() -> None:
    (send,) = Telling().says(client(None), TtlExpired(id=ID), NOW_MS)
    assert isinstance(send, Send)
    assert decode(send.raw).envelope.targets == ()
    (send,) = Telling().says(client(None), TtlExpired(id=ID), NOW_MS, to=AGENT)
    assert isinstance(send, Send)
    assert decode(send.raw).envelope.targets == (AGENT,)


def test_an_answer_that_no_message_can_hold_is_replaced_by_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunks, "MAX_MESSAGE_SIZE", 1_000)
    answer = InventoryResponse(uris=(AGENT,) * 100)
    (send,) = Telling().says(client(), answer, NOW_MS)
    assert isinstance(send, Send)
    assert decode(send.raw).data == ErrorMessage(description="Answer is too large to be sent")


def test_a_connection_that_ends_is_told_nothing() -> None:
    gone = client()
    gone.advance(Step.CLOSE)
    assert Telling().says(gone, TtlExpired(id=ID), NOW_MS) == []


def test_a_client_that_does_not_read_is_cut_when_it_was_told_enough() -> None:
    telling = Telling(unread_size=600)
    slow = client()
    slow.stalled = True
    kinds = [
        type(command) for _ in range(4) for command in telling.says(slow, TtlExpired(id=ID), 0)
    ]
    assert kinds == [Send, Send, Close]
    assert telling.slow == {AGENT: 1}


def test_so_many_slow_clients_are_named_and_others_counted_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_NAMES", 2)
    telling = Telling(unread_size=1)
    for uri in ("cth://a/b", "cth://c/d", "cth://e/f", "cth://a/b", None):
        slow = client(uri)
        slow.stalled = True
        telling.says(slow, TtlExpired(id=ID), 0)
    assert telling.slow == {"cth://a/b": 2, "cth://c/d": 1, "others": 2}
