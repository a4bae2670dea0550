"""The rules of a hub's client on real sockets, against a hub that the test speaks for."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from time import time
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from live.clients.processes import run
from live.clients.scripted import Peer, Scripted, fails_once, quick, scripted
from live.parts import until
from wireloom.live.clients import errors
from wireloom.live.clients.errors import LostError
from wireloom.live.clients.hub import HubClient
from wireloom.live.clients.tuning import Tuning
from wireloom.protocols.signalhub.client.session import HubClientSession
from wireloom.protocols.signalhub.constants import ErrorCode

ADA = "@(a/ada)"


class Stage:
    """A client, the hub it connected to, and its end of the connection."""

    def __init__(self, client: HubClient, hub: Scripted, peer: Peer) -> None:
        self.client = client
        self.hub = hub
        self.peer = peer

    async def rejoin(self) -> Peer:
        self.peer = await self.hub.accept()
        await self.peer.welcome()
        return self.peer


def play(
    act: Callable[[Stage], Awaitable[None]],
    tuning: Tuning | None = None,
    heartbeat_ms: int = 25_000,
) -> None:
    async def main() -> None:
        async with scripted() as hub:
            client = HubClient(hub.url, ADA, tuning=tuning or quick())
            opening = asyncio.ensure_future(client.open())
            peer = await hub.accept()
            await peer.welcome(heartbeat_ms)
            await opening
            try:
                await act(Stage(client, hub, peer))
            finally:
                await client.close()

    run(main())


def asked(call: Awaitable[Any]) -> "asyncio.Future[Any]":
    return asyncio.ensure_future(call)


def test_what_a_client_says_first() -> None:
    async def main() -> None:
        async with scripted() as hub:
            client = HubClient(hub.url, ADA, token="secret", tuning=quick())
            with pytest.raises(errors.ClosedError):
                _ = client.session
            opening = asked(client.open())
            said = await (await hub.accept()).welcome()
            await opening
            assert said["metadata"].pop("clientMetadata")["userAgent"].startswith("wireloom/")
            assert said["metadata"] == {
                "protocolVersion": "0.1.0",
                "authToken": "secret",
                "capabilities": ["send", "receive"],
            }
            assert (said["pattern"], said["payload"], said["ttl"]) == ("ask", None, 5_000)
            assert client.session.server_version == "0.1.0"
            await client.close()

    run(main())


def test_answers_find_their_requests_in_any_order() -> None:
    async def act(stage: Stage) -> None:
        first, second = asked(stage.client.discover("a*")), asked(stage.client.discover("b*"))
        heard = [await stage.peer.hear("hub:discover") for _ in range(2)]
        for one in reversed(heard):
            assert one["to"] == "@(test/hub)"
            found = {"actors": [], "hasMore": one["payload"]["pattern"] == "a*"}
            await stage.peer.say("hub:discovered", found, one)
        assert (await first).has_more
        assert not (await second).has_more

    play(act)


def test_an_answer_that_does_not_name_its_request_goes_to_the_oldest() -> None:
    async def act(stage: Stage) -> None:
        publishing = asked(stage.client.publish("t", "x"))
        await stage.peer.hear("hub:publish")
        await stage.peer.say("hub:published", {"topic": "t", "subscriberCount": 3})
        assert (await publishing).subscriber_count == 3

    play(act)


def test_an_answer_of_another_type_is_not_taken() -> None:
    async def act(stage: Stage) -> None:
        asking = asked(stage.client.queue_stats())
        heard = await stage.peer.hear("hub:queue_stats")
        await stage.peer.say("hub:discovered", {"actors": [], "hasMore": False}, heard)
        with pytest.raises(errors.UnreadableError, match="answers with Discovered"):
            await asking

    play(act)


def test_no_answer_in_time() -> None:
    async def act(stage: Stage) -> None:
        with pytest.raises(errors.AnswerTimeoutError, match=r"no answer to hub:send came within"):
            await stage.client.send("@(b)", "x", seconds=0.05)
        heard = await stage.peer.hear("hub:send")
        late = {"messageId": heard["id"], "deliveredAt": 1, "status": "delivered"}
        await stage.peer.say("hub:delivery_ack", late, heard)  # nobody waits: no harm
        await stage.peer.say("chat", 1)
        assert (await anext(stage.client.messages)).payload == 1

    play(act)


def test_an_error_fails_the_request_that_it_is_about() -> None:
    async def act(stage: Stage) -> None:
        sending = asked(stage.client.send("@(b)", "x"))
        heard = await stage.peer.hear("hub:send")
        payload = {"code": "unknown_actor", "message": "who?", "retryable": False}
        await stage.peer.say("hub:error", payload, heard)
        with pytest.raises(errors.UnknownActorError, match=r"who\?") as failed:
            await sending
        assert failed.value.about == heard["id"]

    play(act)


def test_errors_that_nobody_waits_for_can_be_read() -> None:
    async def act(stage: Stage) -> None:
        told = await stage.client.tell("@(b)", "x")
        heard = await stage.peer.hear("hub:send")
        assert heard["id"] == told
        payload = {"code": "timeout", "message": "late", "retryable": True}
        await stage.peer.say("hub:error", payload, heard)
        failure = await anext(stage.client.failures)
        assert isinstance(failure, errors.FaultError)
        assert (failure.about, failure.code) == (told, ErrorCode.TIMEOUT)
        await stage.peer.connection.send("nonsense")
        assert isinstance(await anext(stage.client.failures), errors.UnreadableError)
        await stage.peer.say("hub:new_in_2030", {})  # not known, and no harm
        await stage.peer.say("chat", 1)
        await anext(stage.client.messages)

    play(act)


UNREADABLE = [
    "nonsense",
    '{"type":"hub:discovered","id":',
    '{"type":"hub:queue_stats_response","correlationId":null}',
    '{"type":"hub:published","payload":{"subscriberCount":-1}}',
]


@pytest.mark.parametrize("frame", UNREADABLE)
def test_an_answer_that_cannot_be_read_is_no_time_out(frame: str) -> None:
    async def act(stage: Stage) -> None:
        asking = asked(stage.client.queue_stats()), asked(stage.client.discover())
        for _ in asking:
            await stage.peer.hear()
        await stage.peer.connection.send(frame)
        for one in asking:  # whose it was cannot be seen
            with pytest.raises(errors.UnreadableError, match="the hub sent no message"):
                await one

    play(act)


def test_an_answer_that_cannot_be_read_fails_the_request_that_it_names() -> None:
    async def act(stage: Stage) -> None:
        for type_, payload, said in (
            ("hub:queue_stats_response", {"queueDepth": "many"}, "sent no message: .*queue"),
            ("hub:new_in_2030", {}, "answers with hub:new_in_2030"),
        ):
            other, asking = asked(stage.client.discover()), asked(stage.client.queue_stats())
            first, second = await stage.peer.hear(), await stage.peer.hear()
            await stage.peer.say(type_, payload, second)
            with pytest.raises(errors.UnreadableError, match=said):
                await asking
            await stage.peer.say("hub:discovered", {"actors": [], "hasMore": False}, first)
            assert not (await other).actors

    play(act)


@pytest.mark.parametrize(
    "frame",
    ['{"type":"chat:line","id":7}', '{"type":"é"}', '{"type":"hub:pause","payload":{}}'],
)
def test_what_is_no_answer_and_cannot_be_read_fails_no_request(frame: str) -> None:
    async def act(stage: Stage) -> None:
        asking = asked(stage.client.discover())
        heard = await stage.peer.hear()
        await stage.peer.connection.send(frame)
        assert isinstance(await anext(stage.client.failures), errors.UnreadableError)
        await stage.peer.say("hub:discovered", {"actors": [], "hasMore": False}, heard)
        await asking

    play(act)


def test_a_heartbeat_whose_answer_cannot_be_read_was_answered() -> None:
    async def act(stage: Stage) -> None:
        for _ in range(2):
            heard = await stage.peer.hear("hub:heartbeat")
            await stage.peer.say("hub:heartbeat_ack", {"timestamp": "now"}, heard)
        assert stage.client.skew_ms is None

    play(act, heartbeat_ms=20)


def test_an_answer_too_large_to_be_read_says_so() -> None:
    async def act(stage: Stage) -> None:
        asking = asked(stage.client.discover())
        await stage.peer.hear()
        await stage.peer.connection.send("x" * 2_200_000)
        with pytest.raises(LostError, match="what this client does not take"):
            await asking

    play(act)


def test_a_message_that_is_none_is_not_sent() -> None:
    async def act(stage: Stage) -> None:
        with pytest.raises(errors.UnsendableError, match=r"payload\.topic"):
            await stage.client.publish("no topic", "x")
        with pytest.raises(errors.UnsendableError):
            await stage.client.send("@(b)", "x", object())

    play(act)


def test_while_paused_nothing_goes_but_heartbeats_and_the_goodbye() -> None:
    async def act(stage: Stage) -> None:
        await stage.peer.say("hub:pause", {"reason": "outbound_queue_full"})
        await stage.peer.say("chat", 1)
        await anext(stage.client.messages)
        sending = asked(stage.client.send("@(b)", "x"))
        telling = asked(stage.client.tell("@(b)", "y"))
        for _ in range(2):
            beat = await stage.peer.hear("hub:heartbeat")
            clocks = {"timestamp": beat["payload"]["timestamp"], "serverTime": 9}
            await stage.peer.say("hub:heartbeat_ack", clocks, beat)
        assert not sending.done()
        with pytest.raises(errors.AnswerTimeoutError):
            await stage.client.send("@(b)", "z", seconds=0.01)
        await stage.peer.say("hub:resume", {})
        types: set[str] = set()
        while len(types) < 2:
            heard = await next_of(stage.peer, "hub:send")
            types.add(heard["payload"]["message"]["type"])
            ack = {"messageId": heard["id"], "deliveredAt": 1, "status": "delivered"}
            await stage.peer.say("hub:delivery_ack", ack, heard)
        assert types == {"x", "y"}
        await sending
        await telling
        await stage.peer.say("hub:pause", {"reason": "r"})
        await asyncio.sleep(0.02)
        await stage.client.close()
        await next_of(stage.peer, "hub:disconnect")

    play(act, Tuning(goodbye_seconds=1), heartbeat_ms=20)


async def next_of(peer: Peer, type_: str) -> dict[str, Any]:
    """The next message of a type; heartbeats before it are answered."""
    async with asyncio.timeout(5):
        while True:
            heard: dict[str, Any] = json.loads(await peer.connection.recv())
            if heard["type"] == type_:
                return heard
            assert heard["type"] == "hub:heartbeat"
            clocks = {"timestamp": heard["payload"]["timestamp"], "serverTime": 9}
            with suppress(ConnectionClosed):
                await peer.say("hub:heartbeat_ack", clocks)


def test_heartbeats_measure_the_clocks_and_go_to_who_is_slow_too() -> None:
    async def act(stage: Stage) -> None:
        beat = await stage.peer.hear("hub:heartbeat")
        sent_ms = beat["payload"]["timestamp"]
        assert (beat["pattern"], abs(sent_ms / 1_000 - time()) < 60) == ("tell", True)
        await stage.peer.say("hub:rate_limited", {"retryAfter": 1}, beat)
        beat = await stage.peer.hear("hub:heartbeat")
        clocks = {"timestamp": sent_ms, "serverTime": sent_ms + 250}
        assert stage.client.skew_ms is None
        await stage.peer.say("hub:heartbeat_ack", clocks)
        await until(lambda: stage.client.skew_ms == 250)

    play(act, Tuning(goodbye_seconds=1), heartbeat_ms=10)


def test_a_hub_that_answers_no_heartbeat_is_dead() -> None:
    async def act(stage: Stage) -> None:
        asking = asked(stage.client.queue_stats())
        with pytest.raises(errors.DeadError):
            await asking
        await stage.rejoin()
        await stage.peer.say("chat", 1)
        await anext(stage.client.messages)

    real = Tuning(goodbye_seconds=0.05, dead_after_seconds=0.02)
    play(act, replace(real, backoff=replace(real.backoff, first_seconds=0.01)), heartbeat_ms=10)


@pytest.mark.parametrize("reason", ["duplicate_connection", "unauthorized"])
def test_after_some_goodbyes_a_client_does_not_come_back(reason: str) -> None:
    async def act(stage: Stage) -> None:
        asking = asked(stage.client.queue_stats())
        await stage.peer.hear("hub:queue_stats")
        await stage.peer.say("hub:disconnect", {"reason": reason})
        with pytest.raises(LostError, match=reason):
            await asking
        with pytest.raises(LostError, match=reason):
            await anext(stage.client.messages)
        with pytest.raises(LostError, match=reason):
            await stage.client.discover()
        with pytest.raises(StopAsyncIteration):
            await anext(stage.client.failures)
        assert stage.hub.waiting == 0

    play(act, quick())


VERSIONS = {"clientVersion": "1.0.0", "serverVersion": "0.1.0", "supportedVersions": []}


@pytest.mark.parametrize(
    ("type_", "payload", "kind"),
    [
        ("hub:unauthorized", {"action": "connect", "reason": "r"}, errors.UnauthorizedError),
        ("hub:version_mismatch", {**VERSIONS, "message": "m"}, errors.VersionMismatchError),
        ("hub:disconnect", {"reason": "duplicate_connection"}, LostError),
    ],
)
def test_a_refusal_on_the_way_back_is_final(
    type_: str, payload: Any, kind: type[errors.ClientError]
) -> None:
    async def act(stage: Stage) -> None:
        await stage.peer.connection.close(1001)
        peer = await stage.hub.accept()
        await peer.say(type_, payload, await peer.hear("hub:connect"))
        with pytest.raises(kind):
            await anext(stage.client.messages)

    play(act, quick())


@pytest.mark.parametrize("reason", ["server_shutdown", "slow_consumer", None])
def test_after_others_it_does(reason: str | None) -> None:
    async def act(stage: Stage) -> None:
        await stage.peer.say("hub:disconnect", {} if reason is None else {"reason": reason})
        await stage.rejoin()

    play(act, quick())


@pytest.mark.parametrize(
    ("first", "error"),
    [
        (None, errors.AnswerTimeoutError),
        ('{"type":"chat"}', errors.UnreadableError),
        ("hub:resume", errors.UnreadableError),
    ],
)
def test_a_hub_that_does_not_answer_the_connect(
    first: str | None, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HubClientSession, "greeting_ms", 50)

    async def main() -> None:
        async with scripted() as hub:
            opening = asked(HubClient(hub.url, ADA, tuning=quick()).open())
            peer = await hub.accept()
            if first == "hub:resume":
                await peer.say(first, {})
            elif first is not None:
                await peer.connection.send(first)
            with pytest.raises(error):
                await opening

    run(main())


def test_what_the_last_connection_had_is_made_good_before_anything_else() -> None:
    async def act(stage: Stage) -> None:
        await register(stage, "t1")
        subscribing = asked(stage.client.subscribe("news", durable=True))
        heard = await stage.peer.hear("hub:subscribe")
        await stage.peer.say("hub:subscribed", {"topic": "news", "subscriptionId": "s1"}, heard)
        await subscribing
        await stage.peer.connection.close(1001)
        sending = asked(stage.client.send("@(b)", "x"))
        peer = await stage.rejoin()
        renew = await peer.hear("hub:renew")
        assert renew["payload"] == {"renewalToken": "t1"}
        subscribe = await peer.hear("hub:subscribe")
        assert subscribe["payload"] == {"topic": "news", "durable": True}
        await peer.say("hub:renewed", {"expiresAt": 1, "renewalToken": "t2"}, renew)
        await peer.say("hub:subscribed", {"topic": "news", "subscriptionId": "s1"}, subscribe)
        ask = await peer.hear("hub:send")
        ack = {"messageId": ask["id"], "deliveredAt": 1, "status": "queued"}
        await peer.say("hub:delivery_ack", ack, ask)
        await sending
        renewing = asked(stage.client.renew())
        renew = await peer.hear("hub:renew")
        assert renew["payload"] == {"renewalToken": "t2"}
        await peer.say("hub:renewed", {"expiresAt": 1, "renewalToken": "t3"}, renew)
        await renewing

    play(act)


def test_what_a_dying_connection_does_not_take_goes_to_the_next() -> None:
    async def act(stage: Stage) -> None:
        fails_once(stage.client, stage.peer)
        telling = asked(stage.client.tell("@(b)", "x"))
        await stage.rejoin()
        assert (await stage.peer.hear("hub:send"))["id"] == await telling
        fails_once(stage.client, stage.peer)
        asking = asked(stage.client.discover())
        await stage.rejoin()
        heard = await stage.peer.hear("hub:discover")
        await stage.peer.say("hub:discovered", {"actors": [], "hasMore": False}, heard)
        await asking

    play(act)


async def register(stage: Stage, token: str) -> None:
    registering = asked(stage.client.register(["x"], ttl_seconds=60))
    heard = await stage.peer.hear("hub:register")
    await registered(stage.peer, heard, token)
    await registering


async def registered(peer: Peer, heard: dict[str, Any], token: str) -> None:
    made = {"actorAddress": ADA, "expiresAt": 1, "renewalToken": token, "version": 1}
    await peer.say("hub:registered", made, heard)


def test_a_registration_that_the_hub_forgot_is_made_anew_when_the_hub_lets_it() -> None:
    async def act(stage: Stage) -> None:
        await register(stage, "t1")
        await stage.peer.connection.close(1001)
        peer = await stage.rejoin()
        refusal = {"action": "renew", "reason": "the token does not hold"}
        await peer.say("hub:unauthorized", refusal, await peer.hear("hub:renew"))
        wish = await peer.hear("hub:register")
        assert wish["payload"]["ttlSeconds"] == 60
        assert wish["metadata"] == {"renewOnHeartbeat": True}
        await peer.say("hub:pause", {"reason": "r"})
        await peer.say("hub:rate_limited", {"retryAfter": 12}, wish)
        await asyncio.sleep(0.05)
        await peer.say("hub:resume", {})
        await peer.say("hub:unauthorized", refusal, await peer.hear("hub:renew"))
        await registered(peer, await peer.hear("hub:register"), "t2")
        await peer.say("chat", 1)
        await anext(stage.client.messages)

    play(act, quick())


def test_what_cannot_be_made_good_is_told() -> None:
    async def act(stage: Stage) -> None:
        await register(stage, "t1")
        await stage.peer.connection.close(1001)
        peer = await stage.rejoin()
        fault = {"code": "internal_error", "message": "no", "retryable": False}
        await peer.say("hub:error", fault, await peer.hear("hub:renew"))
        assert str(await anext(stage.client.failures)) == "no"

    play(act)


def test_a_client_that_does_not_read_stops_the_hub_but_gets_its_answers() -> None:
    async def act(stage: Stage) -> None:
        for number in range(10):
            await stage.peer.say("chat", number)
        await until(lambda: len(stage.client.messages) == 3)
        await asyncio.sleep(0.05)
        assert len(stage.client.messages) == 3
        asking = asked(stage.client.discover())
        heard = await stage.peer.hear("hub:discover")
        await stage.peer.say("hub:discovered", {"actors": [], "hasMore": False}, heard)
        await asking
        read = [(await anext(stage.client.messages)).payload for _ in range(10)]
        assert read == list(range(10))

    play(act, quick(inbox_limit=3))


def test_closing_ends_the_iteration_and_fails_what_waits() -> None:
    async def act(stage: Stage) -> None:
        asking = asked(stage.client.discover())
        await stage.peer.hear("hub:discover")
        await stage.peer.say("chat", 1)
        await until(lambda: len(stage.client.messages))
        await stage.client.close()
        assert (await stage.peer.hear("hub:disconnect"))["payload"] == {
            "reason": "client_requested"
        }
        with pytest.raises(errors.ClosedError):
            await asking
        assert [one.payload async for one in stage.client.messages] == [1]
        with pytest.raises(errors.ClosedError):
            await stage.client.tell("@(b)", "x")

    play(act)


def test_a_verified_identity_replaces_the_claim() -> None:
    async def main() -> None:
        async with scripted() as hub:
            client = HubClient(hub.url, ADA, tuning=quick())
            opening = asked(client.open())
            peer = await hub.accept()
            say = peer.say

            async def verified(*args: Any, **more: Any) -> None:
                await say(*args, **more, metadata={"actorIdentity": "@(real/name)"})

            peer.say = verified  # type: ignore[method-assign]
            await peer.welcome()
            await opening
            assert client.address == "@(real/name)"
            await client.tell("@(b)", "x")
            assert (await peer.hear("hub:send"))["from"] == "@(real/name)"
            await client.close()

    run(main())
