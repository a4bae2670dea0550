"""Registrations and subscriptions outlive a connection."""

from typing import Any

from protocols.signalhub.client.played import ADA, HubScript, connected, uid
from wireloom.protocols.signalhub.client import requests
from wireloom.protocols.signalhub.client.requests import request
from wireloom.wire.client.application import Answered, Failed
from wireloom.wire.client.states import State

REFUSAL = {"action": "renew", "reason": "the token does not hold"}


def registered(token: str) -> dict[str, Any]:
    return {"actorAddress": ADA, "expiresAt": 1, "renewalToken": token, "version": 1}


def with_registration() -> HubScript:
    play = connected()
    play.asks(request(uid("r"), requests.register(ADA, ["x"], ttl_seconds=60), 5))
    play.says("hub:registered", registered("t1"), play.asked("hub:register"))
    assert isinstance(play.told(), Answered)
    return play


def test_what_the_last_connection_had_is_made_again_before_anything_else() -> None:
    play = with_registration()
    play.asks(request(uid("s"), requests.subscribe("news", durable=True), 5))
    made = {"topic": "news", "subscriptionId": "s1"}
    play.says("hub:subscribed", made, play.asked("hub:subscribe"))
    play.told()
    play.loses(1001)
    play.asks(request(uid("q"), requests.queue_stats(), 60))
    play.comes_back()
    renew, subscribe = play.asked("hub:renew"), play.asked("hub:subscribe")
    assert renew["payload"] == {"renewalToken": "t1"}
    assert subscribe["payload"] == {"topic": "news", "durable": True}
    assert not play.sent
    play.says("hub:renewed", {"expiresAt": 1, "renewalToken": "t2"}, renew)
    play.says("hub:subscribed", made, subscribe)
    play.asked("hub:queue_stats")
    assert play.client.upkeep.registrations[ADA].token == "t2"


def test_a_registration_that_the_hub_forgot_is_made_anew_when_the_hub_lets_it() -> None:
    play = with_registration()
    play.loses(1001)
    play.comes_back()
    play.says("hub:unauthorized", REFUSAL, play.asked("hub:renew"))
    wish = play.asked("hub:register")
    assert wish["payload"]["ttlSeconds"] == 60
    assert wish["metadata"] == {"renewOnHeartbeat": True}
    play.says("hub:pause", {"reason": "r"})
    play.says("hub:rate_limited", {"retryAfter": 12_000}, wish)
    play.passes(11_999)
    assert not play.sent
    play.passes(1)
    assert not play.sent, "it is paused"
    play.says("hub:resume", {})
    play.says("hub:unauthorized", REFUSAL, play.asked("hub:renew"))
    play.says("hub:registered", registered("t2"), play.asked("hub:register"))
    assert play.client.state is State.UP
    assert play.client.upkeep.registrations[ADA].token == "t2"


def test_what_cannot_be_made_again_is_told() -> None:
    play = with_registration()
    play.loses(1001)
    play.comes_back()
    fault = {"code": "internal_error", "message": "no", "retryable": False}
    play.says("hub:error", fault, play.asked("hub:renew"))
    failed = play.told()
    assert isinstance(failed, Failed)
    assert (failed.id, str(failed.error)) == (None, "no")
    assert play.client.state is State.UP


def test_requests_do_not_wait_for_a_hub_that_makes_nothing_again() -> None:
    play = with_registration()
    play.loses(1001)
    play.comes_back()
    play.asks(request(uid("q"), requests.queue_stats(), 60))
    renew = play.asked("hub:renew")
    play.says("hub:rate_limited", {"retryAfter": 60_000}, renew)
    play.passes(4_999)
    assert not play.sent
    play.passes(1)
    play.asked("hub:queue_stats")


def test_what_the_application_ends_is_not_made_again() -> None:
    play = with_registration()
    play.asks(request(uid("s"), requests.subscribe("news"), 5))
    made = {"topic": "news", "subscriptionId": "s1"}
    play.says("hub:subscribed", made, play.asked("hub:subscribe"))
    play.asks(request(uid("u"), requests.unregister(ADA), 5))
    play.asks(request(uid("v"), requests.unsubscribe("s1"), 5))
    play.sent.clear()
    play.loses(1001)
    play.comes_back()
    assert not play.sent
    assert play.client.state is State.UP


def test_a_renewal_of_the_applications_own_is_kept() -> None:
    play = with_registration()
    play.asks(request(uid("n"), requests.renew("t1"), 5))
    play.says("hub:renewed", {"expiresAt": 1, "renewalToken": "t9"}, play.asked("hub:renew"))
    assert play.client.upkeep.registrations[ADA].token == "t9"
