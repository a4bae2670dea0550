"""The rules of a broker's client on real sockets, against a broker that the test speaks for."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from live.clients.processes import run
from live.clients.scripted import Peer, Scripted, envelope, fails_once, quick, scripted
from live.parts import until
from wireloom.live.clients import errors
from wireloom.live.clients.cthun import CthunClient
from wireloom.live.clients.tuning import Tuning
from wireloom.protocols.cthun import codec
from wireloom.protocols.cthun.client.session import BrokerClientSession
from wireloom.protocols.cthun.messages import (
    BROKER_TYPES,
    AssociateResponse,
    BrokerData,
    DestinationReport,
    ErrorMessage,
    InventoryResponse,
    Packet,
    TtlExpired,
)
from wireloom.wire.client.backoff import Backoff

ANN = "cth://ann/agent"
ID = "11111111-1111-4111-8111-111111111111"


def play(
    act: Callable[[CthunClient, Peer, Scripted], Awaitable[None]], tuning: Tuning | None = None
) -> None:
    async def main() -> None:
        async with scripted() as broker:
            client = CthunClient(broker.url, ANN, tuning=tuning or quick())
            opening = asyncio.ensure_future(client.open())
            peer = await broker.accept()
            await peer.associate()
            await opening
            try:
                await act(client, peer, broker)
            finally:
                await client.close()

    run(main())


def asked(call: Awaitable[Any]) -> "asyncio.Future[Any]":
    return asyncio.ensure_future(call)


def test_inventories_are_answered_in_order_even_if_nobody_waits_any_more() -> None:
    async def act(client: CthunClient, peer: Peer, _: Scripted) -> None:
        with pytest.raises(errors.AnswerTimeoutError, match="no answer came within"):
            await client.inventory(seconds=0.05)
        second, third = asked(client.inventory()), asked(client.inventory())
        for name in ("a", "b", "c"):
            await peer.take()
            await peer.tell(InventoryResponse(uris=(f"cth://{name}/agent",)))
        assert await second == ("cth://b/agent",)
        assert await third == ("cth://c/agent",)
        await peer.tell(InventoryResponse(uris=()))  # nobody asked: no harm
        await peer.give(Packet(envelope=envelope("x")))
        await anext(client.messages)

    play(act)


def test_an_inventory_that_fails_is_not_waited_for() -> None:
    async def act(client: CthunClient, peer: Peer, _: Scripted) -> None:
        calls = [asked(client.inventory()) for _ in range(4)]
        sent = [(await peer.take()).envelope.id for _ in range(4)]
        await peer.tell(ErrorMessage(description="Answer is too large to be sent"))
        await peer.tell(ErrorMessage(id=sent[1], description="Message not authorized"))
        await peer.tell(TtlExpired(id=sent[2]))
        await peer.tell(InventoryResponse(uris=()))
        with pytest.raises(errors.RefusedError, match="too large"):
            await calls[0]
        with pytest.raises(errors.RefusedError, match="not authorized"):
            await calls[1]
        with pytest.raises(errors.ExpiredError):
            await calls[2]
        assert await calls[3] == ()

    play(act)


def test_a_report_answers_its_message_by_id() -> None:
    async def act(client: CthunClient, peer: Peer, _: Scripted) -> None:
        first, second = [asked(client.send_reported(["cth://*/agent"], "t")) for _ in range(2)]
        sent = [await peer.take() for _ in range(2)]
        assert sent[0].envelope.destination_report is True
        for one in reversed(sent):
            await peer.tell(DestinationReport(id=one.envelope.id, targets=()))
        assert (await first).id == sent[0].envelope.id
        assert (await second).id == sent[1].envelope.id

    play(act)


def test_a_report_for_an_inventory_is_no_answer() -> None:
    async def act(client: CthunClient, peer: Peer, _: Scripted) -> None:
        asking = asked(client.inventory())
        sent = await peer.take()
        await peer.tell(DestinationReport(id=sent.envelope.id, targets=()))
        with pytest.raises(errors.UnreadableError, match="DestinationReport"):
            await asking

    play(act)


def test_bad_news_that_nobody_waits_for_can_be_read() -> None:
    async def act(client: CthunClient, peer: Peer, _: Scripted) -> None:
        await peer.tell(TtlExpired(id=ID))
        expired = await anext(client.failures)
        assert isinstance(expired, errors.ExpiredError)
        assert (expired.about, str(expired)) == (ID, f"message {ID} expired undelivered")
        await peer.tell(ErrorMessage(description="Could not decode message"))
        refused = await anext(client.failures)
        assert isinstance(refused, errors.RefusedError)
        assert refused.about is None
        await peer.tell(AssociateResponse(id=ID, success=True))  # once more: no harm
        for frame in ("text", b"\xff"):
            await peer.connection.send(frame)
            assert isinstance(await anext(client.failures), errors.UnreadableError)

    play(act)


def damaged(data: BrokerData) -> bytes:
    """What a broker says, spoilt in its last byte."""
    type_ = next(name for name, cls in BROKER_TYPES.items() if cls is type(data))
    return codec.encode(Packet(envelope=envelope(type_), data=data))[:-1] + b"!"


def test_an_answer_that_cannot_be_read_is_no_time_out() -> None:
    async def act(client: CthunClient, peer: Peer, _: Scripted) -> None:
        first = asked(client.inventory())
        await peer.take()
        second = asked(client.inventory())
        await peer.take()
        await peer.connection.send(damaged(InventoryResponse(uris=())))
        with pytest.raises(errors.UnreadableError, match="the broker sent no message"):
            await first
        await peer.tell(InventoryResponse(uris=("cth://b/agent",)))
        assert await second == ("cth://b/agent",)
        reporting = [asked(client.send_reported(["cth://*/x"], "t", b"")) for _ in range(2)]
        sent = [await peer.take() for _ in reporting]
        report = DestinationReport(id=sent[0].envelope.id, targets=())
        await peer.connection.send(damaged(report))
        with pytest.raises(errors.UnreadableError):
            await reporting[0]
        await peer.tell(DestinationReport(id=sent[1].envelope.id, targets=()))
        await reporting[1]

    play(act)


def test_a_frame_of_which_nothing_can_be_seen_fails_all_who_wait() -> None:
    async def act(client: CthunClient, peer: Peer, broker: Scripted) -> None:
        reporting = asked(client.send_reported(["cth://*/x"], "t", b""))
        await peer.take()
        await peer.connection.send(b"\xff")
        with pytest.raises(errors.UnreadableError):
            await reporting
        asking = asked(client.inventory())
        await peer.take()
        await peer.connection.send(b"\xff")
        with pytest.raises(errors.UnreadableError):
            await asking
        peer = await broker.accept()  # whose the next inventory would be is not known
        await peer.associate()
        asking = asked(client.inventory())
        await peer.take()
        await peer.tell(InventoryResponse(uris=()))
        assert await asking == ()

    play(act)


def test_a_message_of_others_that_cannot_be_read_fails_no_request() -> None:
    async def act(client: CthunClient, peer: Peer, _: Scripted) -> None:
        asking = asked(client.inventory())
        await peer.take()
        good = codec.encode(Packet(envelope=envelope("some/type"), data=b"?"))
        await peer.connection.send(good[:-1])
        assert isinstance(await anext(client.failures), errors.UnreadableError)
        await peer.tell(InventoryResponse(uris=()))
        assert await asking == ()

    play(act)


def test_what_cannot_be_sent_is_not() -> None:
    async def act(client: CthunClient, peer: Peer, broker: Scripted) -> None:
        with pytest.raises(errors.UnsendableError, match=r"envelope\.targets"):
            await client.send(["nobody"], "t")
        with pytest.raises(errors.UnsendableError):
            await client.inventory(["nobody"])
        broker.server.close(close_connections=False)
        await peer.connection.close(1001)
        await until(lambda: not client._session.is_connected)
        with pytest.raises(errors.AnswerTimeoutError, match="nothing could be sent"):
            await client.send([ANN], "t", ttl_seconds=0.05)

    play(act, quick(backoff=Backoff(first_seconds=60)))


@pytest.mark.parametrize("code", [4000, 4002, 4003])
def test_after_some_codes_a_client_does_not_come_back(code: int) -> None:
    async def act(client: CthunClient, peer: Peer, broker: Scripted) -> None:
        asking = asked(client.inventory())
        await peer.take()
        await peer.connection.close(code, "over")
        with pytest.raises(errors.LostError, match="over"):
            await asking
        with pytest.raises(errors.LostError, match=f"code {code}"):
            await anext(client.messages)
        assert broker.waiting == 0

    play(act, quick())


def test_after_others_it_does() -> None:
    async def act(client: CthunClient, peer: Peer, broker: Scripted) -> None:
        await peer.connection.close(1011)
        sending = asked(client.send([ANN], "t", b"x"))
        again = await broker.accept()
        await again.associate()
        assert (await again.take()).envelope.id == await sending

    play(act, quick())


def test_what_a_dying_connection_does_not_take_goes_to_the_next() -> None:
    async def act(client: CthunClient, peer: Peer, broker: Scripted) -> None:
        fails_once(client, peer)
        sending = asked(client.send([ANN], "t"))
        peer = await broker.accept()
        await peer.associate()
        assert (await peer.take()).envelope.id == await sending
        fails_once(client, peer)
        asking = asked(client.inventory())
        peer = await broker.accept()
        await peer.associate()
        await peer.take()
        await peer.tell(InventoryResponse(uris=(ANN,)))
        assert await asking == (ANN,)

    play(act)


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        (AssociateResponse(id=ID, success=False), errors.AssociationError, "does not say why"),
        (
            AssociateResponse(id=ID, success=False, reason="URI is too long"),
            errors.AssociationError,
            "URI is too long",
        ),
        (
            ErrorMessage(description="Could not decode message"),
            errors.AssociationError,
            "Could not decode",
        ),
        (TtlExpired(id=ID), errors.UnreadableError, "does not answer the association"),
        (None, errors.AnswerTimeoutError, "no answer to the association"),
    ],
)
def test_a_broker_that_does_not_take_the_client(
    answer: Any, error: type[Exception], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BrokerClientSession, "greeting_ms", 50)

    async def main() -> None:
        async with scripted() as broker:
            opening = asked(CthunClient(broker.url, ANN, tuning=quick()).open())
            peer = await broker.accept()
            if answer is not None:
                await peer.tell(answer)
            with pytest.raises(error, match=text):
                await opening

    run(main())


def test_a_client_that_does_not_read_stops_the_broker_but_gets_its_answers() -> None:
    async def act(client: CthunClient, peer: Peer, _: Scripted) -> None:
        for number in range(10):
            await peer.give(Packet(envelope=envelope("x"), data=b"%d" % number))
        await until(lambda: len(client.messages) == 3)
        await asyncio.sleep(0.05)
        assert len(client.messages) == 3
        asking = asked(client.inventory())
        await peer.take()
        await peer.tell(InventoryResponse(uris=()))
        await asking
        assert [(await anext(client.messages)).data for _ in range(10)] == [
            b"%d" % number for number in range(10)
        ]

    play(act, quick(inbox_limit=3))
