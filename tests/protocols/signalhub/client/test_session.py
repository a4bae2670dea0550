"""A hub's client, step by step and in a simulated network with a real hub."""

import pytest

from protocols.signalhub.client.played import ADA, HUB, HubScript, connected, uid
from wireloom.protocols.signalhub.client import requests
from wireloom.protocols.signalhub.client.errors import (
    FaultError,
    UnauthorizedError,
    VersionMismatchError,
)
from wireloom.protocols.signalhub.client.requests import request
from wireloom.protocols.signalhub.client.session import HubClientSession
from wireloom.protocols.signalhub.client.settings import ClientSettings
from wireloom.protocols.signalhub.constants import ContentType
from wireloom.protocols.signalhub.hub.session import HubSession
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.messages import Application, DeliveryAck
from wireloom.sim.world import World
from wireloom.wire.client.application import Answered, Arrived, Ended, Failed, Open
from wireloom.wire.client.errors import (
    AnswerTimeoutError,
    ClientError,
    DeadError,
    LostError,
    UnreadableError,
)
from wireloom.wire.client.states import State
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Requested, Stopping

FOUND = {"actors": [], "hasMore": False}
VERSIONS = {"clientVersion": "1.0.0", "serverVersion": "0.1.0", "supportedVersions": []}


def test_what_a_client_says_first() -> None:
    play = HubScript(token="secret", user_agent="test")
    play.opens()
    wish = play.welcomes(metadata={"actorIdentity": "@(real/name)"})
    assert wish["metadata"] == {
        "protocolVersion": "0.1.0",
        "authToken": "secret",
        "capabilities": ["send", "receive"],
        "clientMetadata": {"userAgent": "test"},
    }
    assert (wish["from"], wish["pattern"], wish["ttl"]) == (ADA, "ask", 5_000)
    assert (play.client.address, play.client.hub) == ("@(real/name)", HUB)
    assert play.client.session is not None


@pytest.mark.parametrize(
    ("type_", "payload", "kind"),
    [
        ("hub:unauthorized", {"action": "connect", "reason": "r"}, UnauthorizedError),
        ("hub:version_mismatch", {**VERSIONS, "message": "m"}, VersionMismatchError),
        ("hub:disconnect", {"reason": "duplicate_connection"}, LostError),
        ("hub:disconnect", {"reason": "unauthorized"}, LostError),
    ],
)
def test_after_some_refusals_a_client_does_not_come_back(
    type_: str, payload: object, kind: type[ClientError]
) -> None:
    play = connected()
    play.loses(1001)
    play.passes(1_000)
    play.reaches()
    play.says(type_, payload, play.asked("hub:connect"))
    assert isinstance(play.told().error, kind)
    assert not play.timers


@pytest.mark.parametrize("reason", ["server_shutdown", "slow_consumer", None])
def test_after_others_it_does(reason: str | None) -> None:
    play = connected()
    play.says("hub:disconnect", {} if reason is None else {"reason": reason})
    assert play.pause_ms() == 1_000


@pytest.mark.parametrize("frame", [b'{"type":"chat"}', b"\xc1"])
def test_a_welcome_that_cannot_be_read_is_none(frame: bytes) -> None:
    play = HubScript()
    play.opens()
    concluded = play.hears(frame)
    assert isinstance(play.told().error, UnreadableError)
    assert concluded.reason is not None


def test_another_word_is_no_welcome() -> None:
    play = HubScript()
    play.opens()
    play.says("hub:resume", {})
    assert str(play.told().error) == "the hub answers hub:connect with Resume"


def test_heartbeats_measure_the_clocks_at_exact_times() -> None:
    play = connected()
    play.passes(24_999)
    assert not play.sent
    play.passes(1)
    beat = play.asked("hub:heartbeat")
    assert (beat["payload"], beat["pattern"]) == ({"timestamp": play.now_ms}, "tell")
    play.passes(40)
    clocks = {"timestamp": play.now_ms - 40, "serverTime": play.now_ms + 210}
    play.says("hub:heartbeat_ack", clocks)
    assert play.client.skew_ms == 250
    play.passes(25_000)
    play.says("hub:rate_limited", {"retryAfter": 1}, play.asked("hub:heartbeat"))
    play.passes(25_000)
    play.asked("hub:heartbeat")
    assert play.client.skew_ms == 250


def test_a_hub_that_answers_no_heartbeat_is_dead() -> None:
    play = connected(dead_after_ms=10_000)
    play.asks(request(uid("q"), requests.queue_stats(), 60))
    play.passes(34_999)
    assert play.client.state is State.UP
    play.passes(1)
    assert isinstance(play.told().error, DeadError)
    assert play.pause_ms() == 1_000


def test_a_heartbeat_that_is_refused_ends_the_connection() -> None:
    play = connected()
    play.passes(25_000)
    fault = {"code": "internal_error", "message": "no", "retryable": False}
    play.says("hub:error", fault, play.asked("hub:heartbeat"))
    assert play.client.state is State.RESTING


def test_while_paused_requests_wait_and_heartbeats_go() -> None:
    play = connected()
    play.says("hub:pause", {"reason": "outbound_queue_full"})
    play.asks(request(uid("a"), requests.tell("@(b)", "x"), 60))
    play.asks(request(uid("b"), requests.discover("*"), 1))
    play.passes(25_000)
    late = play.told()
    assert str(late.error) == "no answer to hub:discover came within 1 s"
    play.asked("hub:heartbeat")
    assert not play.sent
    play.says("hub:resume", {})
    assert play.asked("hub:send")["id"] == uid("a")
    assert play.told() == Answered(uid("a"))


def test_a_goodbye_goes_even_while_paused() -> None:
    play = connected()
    play.says("hub:pause", {"reason": "r"})
    play.happens(Stopping())
    assert play.asked("hub:disconnect")["payload"] == {"reason": "client_requested"}
    assert isinstance(play.told(), Ended)


def test_a_request_without_an_answer_that_cannot_leave_says_so() -> None:
    play = connected()
    play.says("hub:pause", {"reason": "r"})
    play.asks(request(uid("a"), requests.tell("@(b)", "x"), 1))
    play.passes(1_000)
    failed = play.told()
    assert isinstance(failed.error, AnswerTimeoutError)
    assert str(failed.error) == "nothing could be sent for 1 s"


def test_what_a_hub_says_has_an_outcome() -> None:
    play = connected()
    said = play.says("chat:line", {"x": 1})
    assert (said.outcome, said.peer, said.type) == (Outcome.DELIVERED, HUB, None)
    arrived = play.told()
    assert isinstance(arrived, Arrived)
    assert isinstance(arrived.message, Application)
    assert play.says("hub:resume", {}).type == "hub:resume"
    assert play.says("hub:new_in_2030", {}).reason is Reason.UNKNOWN_TYPE
    assert play.hears(b"nonsense").reason is Reason.MALFORMED
    failed = play.told()
    assert isinstance(failed, Failed)
    assert (failed.id, type(failed.error)) == (None, UnreadableError)


def test_errors_that_nobody_waits_for_are_told() -> None:
    play = connected()
    play.asks(request(uid("a"), requests.tell("@(b)", "x"), 60))
    sent = play.asked("hub:send")
    assert play.told() == Answered(uid("a"))
    play.says("hub:error", {"code": "timeout", "message": "late", "retryable": True}, sent)
    failed = play.told()
    assert isinstance(failed.error, FaultError)
    assert failed.error.about == uid("a")


def test_frames_are_written_in_the_encoding_that_was_chosen() -> None:
    play = HubScript(content_type=ContentType.MSGPACK)
    play.opens()
    assert play.sent[0][0] >= 0x80
    assert not play.client.text


def test_two_clients_talk_through_a_hub_in_a_simulated_network() -> None:
    world = World(1_739_731_000_000)
    hub = world.add("hub", "signalhub")
    hub.start(HubSession(HubSettings(secret=b"s" * 32), Ids("hub")))
    world.listen(hub, "websocket", "ws://hub")
    ada, bob = clients = [world.add(name, "signalhub") for name in ("ada", "bob")]
    for client in clients:
        settings = ClientSettings(url="ws://hub", address=f"@({client.name})")
        client.start(HubClientSession(settings, Ids(client.name), lambda: 0.5))
        client.hear(Requested(Open()))
    bob.hear(Requested(request(uid("b-1"), requests.register("@(bob)", ["x"]), 5)))
    ada.hear(Requested(request(uid("a-1"), requests.send("@(bob)", "chat:line", "hello"), 5)))
    arrived = [item.message for item in bob.delivered if isinstance(item, Arrived)]
    assert [(one.type, one.payload) for one in arrived] == [("chat:line", "hello")]  # type: ignore[attr-defined]
    answers = [item.answer for item in ada.delivered if isinstance(item, Answered)]
    assert [type(one) for one in answers] == [DeliveryAck]
    hub.crash()
    hub.start(HubSession(HubSettings(secret=b"s" * 32), Ids("hub again")))
    world.pass_time(5_000)
    ada.hear(Requested(request(uid("a-2"), requests.send("@(bob)", "chat:line", "again"), 5)))
    arrived = [item.message for item in bob.delivered if isinstance(item, Arrived)]
    assert [one.payload for one in arrived] == ["hello", "again"]  # type: ignore[attr-defined]
    assert [*ada.faults, *bob.faults, *hub.faults] == []
