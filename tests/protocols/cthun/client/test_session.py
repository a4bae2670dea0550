"""A broker's client, step by step and in a simulated network with a real broker."""

from typing import Any

import pytest

from support.clients import Script
from wireloom.protocols.cthun import codec
from wireloom.protocols.cthun.broker.session import BrokerSession
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.client import requests
from wireloom.protocols.cthun.client.errors import AssociationError, ExpiredError, RefusedError
from wireloom.protocols.cthun.client.requests import request
from wireloom.protocols.cthun.client.session import BrokerClientSession
from wireloom.protocols.cthun.client.settings import ClientSettings
from wireloom.protocols.cthun.constants import BROKER_URI, MessageType
from wireloom.protocols.cthun.messages import (
    BROKER_TYPES,
    AssociateResponse,
    BrokerData,
    DestinationReport,
    Envelope,
    ErrorMessage,
    InventoryResponse,
    Packet,
    TtlExpired,
)
from wireloom.sim.world import World
from wireloom.wire.client.application import Answered, Arrived, Open, Unsent
from wireloom.wire.client.errors import LostError, UnreadableError, UnsendableError
from wireloom.wire.client.states import State
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Conclude, Requested

ANN = "cth://ann/agent"
IDS = [f"11111111-1111-4111-8111-{number:012}" for number in range(9)]


class BrokerScript(Script):
    """A client of a broker, and what the broker says to it."""

    def __init__(self) -> None:
        settings = ClientSettings(url="ws://broker", uri=ANN)
        super().__init__(BrokerClientSession(settings, Ids("client"), lambda: 0.5))

    def asked(self) -> Packet:
        return codec.decode(self.sent.popleft())

    def says(self, data: BrokerData | bytes, type_: str | None = None) -> Conclude:
        if type_ is None:
            type_ = next(name for name, cls in BROKER_TYPES.items() if cls is type(data))
        envelope = Envelope(
            id=IDS[8],
            message_type=type_,
            expires="2099-01-01T00:00:00Z",
            targets=(),
            sender=BROKER_URI,
        )
        return self.hears(codec.encode(Packet(envelope=envelope, data=data)))

    def associates(self) -> None:
        wish = self.asked().envelope
        assert (wish.message_type, wish.sender) == (MessageType.ASSOCIATE_REQUEST, ANN)
        self.says(AssociateResponse(id=wish.id, success=True))


def associated() -> BrokerScript:
    play = BrokerScript()
    play.opens()
    play.associates()
    assert play.session.state is State.UP
    return play


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (AssociateResponse(id=IDS[0], success=False), AssociationError, "does not say why"),
        (
            AssociateResponse(id=IDS[0], success=False, reason="URI is too long"),
            AssociationError,
            "URI is too long",
        ),
        (ErrorMessage(description="Could not decode"), AssociationError, "Could not decode"),
        (TtlExpired(id=IDS[0]), UnreadableError, "does not answer the association"),
    ],
)
def test_a_broker_that_does_not_take_the_client(
    answer: BrokerData, kind: type[Exception], text: str
) -> None:
    play = BrokerScript()
    play.opens()
    play.says(answer)
    error = play.told().error
    assert isinstance(error, kind)
    assert text in str(error)


def test_an_answer_to_the_association_that_is_text_is_none() -> None:
    play = BrokerScript()
    play.opens()
    assert play.hears(b"{}", text=True).reason is Reason.MALFORMED
    assert str(play.told().error) == "the broker sent text"


@pytest.mark.parametrize("code", [4000, 4002, 4003])
def test_after_some_codes_a_client_does_not_come_back(code: int) -> None:
    play = associated()
    play.loses(code, "over")
    error = play.told().error
    assert isinstance(error, LostError)
    assert error.code == code
    assert not play.timers


def test_after_others_it_does() -> None:
    play = associated()
    play.loses(1011)
    play.asks(request(IDS[1], requests.send([ANN], "t", b"x", 5), 5))
    assert play.pause_ms() == 1_000
    play.passes(1_000)
    play.reaches()
    play.associates()
    assert play.asked().envelope.id == IDS[1]
    assert play.told() == Answered(IDS[1])


def test_inventories_are_answered_in_order_even_if_nobody_waits_any_more() -> None:
    play = associated()
    for message_id, seconds in zip(IDS[:3], (0.05, 9, 9), strict=True):
        play.asks(request(message_id, requests.inventory(["cth://*/*"], 3), seconds))
    play.passes(50)
    assert play.told().id == IDS[0]
    for name in ("a", "b", "c"):
        play.says(InventoryResponse(uris=(f"cth://{name}/agent",)))
    answers = [play.told(), play.told()]
    assert [(one.id, one.answer.uris[0]) for one in answers] == [
        (IDS[1], "cth://b/agent"),
        (IDS[2], "cth://c/agent"),
    ]
    play.says(InventoryResponse(uris=()))
    assert not play.items


def test_an_inventory_that_fails_or_did_not_leave_is_not_waited_for() -> None:
    play = associated()
    asked = [request(one, requests.inventory(["cth://*/*"], 3), 9) for one in IDS[:5]]
    for one in asked:
        play.asks(one)
    play.says(ErrorMessage(description="Answer is too large to be sent"))
    play.says(ErrorMessage(id=IDS[1], description="Message not authorized"))
    play.says(TtlExpired(id=IDS[2]))
    play.asks(Unsent(asked[3], play.line))
    play.says(InventoryResponse(uris=()))
    settled = [play.told() for _ in range(4)]
    kinds = [(one.id, type(getattr(one, "error", None))) for one in settled]
    assert kinds == [
        (IDS[0], RefusedError),
        (IDS[1], RefusedError),
        (IDS[2], ExpiredError),
        (IDS[4], type(None)),
    ]


def test_a_report_answers_its_message_by_id() -> None:
    play = associated()
    for one in IDS[:2]:
        play.asks(request(one, requests.send_reported([ANN], "t", None, 5), 5))
    for one in reversed(IDS[:2]):
        play.says(DestinationReport(id=one, targets=()))
    assert [play.told().id for _ in range(2)] == [IDS[1], IDS[0]]


def damaged(data: BrokerData) -> bytes:
    type_ = next(name for name, cls in BROKER_TYPES.items() if cls is type(data))
    envelope = Envelope(
        id=IDS[8],
        message_type=type_,
        expires="2099-01-01T00:00:00Z",
        targets=(),
        sender=BROKER_URI,
    )
    return codec.encode(Packet(envelope=envelope, data=data))[:-1] + b"!"


def test_an_answer_that_cannot_be_read_fails_who_waits_for_it() -> None:
    play = associated()
    play.asks(request(IDS[0], requests.inventory(["cth://*/*"], 3), 9))
    play.asks(request(IDS[1], requests.inventory(["cth://*/*"], 3), 9))
    play.asks(request(IDS[2], requests.send_reported([ANN], "t", None, 5), 5))
    play.hears(damaged(InventoryResponse(uris=())))
    failed = play.told()
    assert (failed.id, type(failed.error)) == (IDS[0], UnreadableError)
    play.hears(damaged(DestinationReport(id=IDS[2], targets=())))
    assert play.told().id == IDS[2]
    play.says(InventoryResponse(uris=()))
    assert play.told() == Answered(IDS[1], InventoryResponse(uris=()))


def test_a_frame_of_which_nothing_can_be_seen_ends_a_connection_with_inventories() -> None:
    play = associated()
    assert play.hears(b"\xff").outcome is Outcome.REJECTED
    assert play.told().id is None
    play.asks(request(IDS[0], requests.inventory(["cth://*/*"], 3), 9))
    play.hears(b"\xff")
    assert play.told().id == IDS[0]
    assert play.session.state is State.RESTING


def test_messages_of_others_arrive() -> None:
    play = associated()
    said = play.says(b"hello", "some/type")
    assert said == Conclude(Outcome.DELIVERED, None, BROKER_URI)
    arrived = play.told()
    assert isinstance(arrived, Arrived)
    assert isinstance(arrived.message, Packet)
    assert play.says(AssociateResponse(id=IDS[0], success=True)).type in set(MessageType)
    assert not play.items


def test_what_cannot_be_sent_fails_at_once_even_without_a_connection() -> None:
    play = associated()
    play.loses()
    play.asks(request(IDS[0], requests.send(["nobody"], "t", None, 5), 5))
    failed = play.told()
    assert isinstance(failed.error, UnsendableError)
    assert "envelope.targets" in str(failed.error)


def test_two_nodes_talk_through_a_broker_in_a_simulated_network() -> None:
    world = World(1_739_731_000_000)
    broker = world.add("broker", "cthun")
    settings = BrokerSettings(uri="cth://broker/server", trust_sender=True)
    broker.start(BrokerSession(settings, Ids("broker")))
    world.listen(broker, "websocket", "ws://broker")
    ann, ben = clients = [world.add(name, "cthun") for name in ("ann", "ben")]
    for client in clients:
        own = ClientSettings(url="ws://broker", uri=f"cth://{client.name}/agent")
        client.start(BrokerClientSession(own, Ids(client.name), lambda: 0.5))
        client.hear(Requested(Open()))
    ann.hear(Requested(request(IDS[1], requests.inventory(["cth://*/agent"], 3), 5)))
    ann.hear(Requested(request(IDS[2], requests.send(["cth://ben/agent"], "t", b"x", 5), 5)))
    answers: list[Any] = [item for item in ann.delivered if isinstance(item, Answered)]
    assert answers[0].answer.uris == (ANN, "cth://ben/agent")
    arrived: list[Any] = [item.message for item in ben.delivered if isinstance(item, Arrived)]
    assert [(one.envelope.id, one.data) for one in arrived] == [(IDS[2], b"x")]
    assert [*ann.faults, *ben.faults, *broker.faults] == []
