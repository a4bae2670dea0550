"""What an application can ask of a hub is a message that the hub's codec takes."""

from typing import Any

import pytest

from protocols.signalhub.client.played import connected, uid
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.client import requests
from wireloom.protocols.signalhub.client.requests import Draft, request


@pytest.mark.parametrize(
    ("draft", "payload"),
    [
        (requests.unregister("@(a)"), {"actorAddress": "@(a)"}),
        (requests.renew("t"), {"renewalToken": "t"}),
        (requests.discover("*"), {"pattern": "*"}),
        (requests.discover("*", 3), {"pattern": "*", "limit": 3}),
        (requests.list_actors(2), {"offset": 2}),
        (requests.list_actors(2, 5), {"offset": 2, "limit": 5}),
        (requests.unsubscribe("s"), {"subscriptionId": "s"}),
        (requests.queue_stats(), {}),
    ],
)
def test_drafts_become_messages(draft: Draft[Any], payload: dict[str, Any]) -> None:
    play = connected()
    play.asks(request("11111111-1111-4111-8111-111111111112", draft, 5))
    raw = play.sent.popleft()
    codec.decode(raw)
    play.sent.append(raw)
    sent = play.asked(draft.cls.__struct_config__.tag)  # type: ignore[arg-type]
    for key, value in payload.items():
        assert sent["payload"][key] == value


def test_a_send_may_have_a_priority_and_asks_for_an_acknowledgement() -> None:
    play = connected()
    play.asks(request(uid("a"), requests.send("@(b)", "x", 1, ttl_ms=9, priority=0), 5))
    sent = play.asked("hub:send")
    assert (sent["ttl"], sent["metadata"]) == (9, {"requireAck": True, "priority": 0})


def test_a_broadcast_may_be_for_some() -> None:
    play = connected()
    play.asks(request(uid("a"), requests.broadcast("x", capability="paint"), 5))
    sent = play.asked("hub:broadcast")
    assert sent["metadata"]["targetCapability"] == "paint"
    assert sent["pattern"] == "tell"


def test_what_is_kept_up_says_so() -> None:
    assert requests.register("@(a)", ["x"]).is_kept_up
    assert requests.subscribe("t").is_kept_up
    assert not requests.publish("t", "x").is_kept_up
