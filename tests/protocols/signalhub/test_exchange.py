"""Limits of what discovery and delivery say."""

from typing import Any

import pytest

from protocols.signalhub.documents import ABSENT, document, frame
from wireloom.protocols.signalhub.codec import decode, encode
from wireloom.protocols.signalhub.constants import DeliveryStatus
from wireloom.protocols.signalhub.messages import DeliveryAck
from wireloom.wire.errors import MalformedError

TAKEN: list[tuple[str, str, Any]] = [
    ("hub:register", "payload__ttlSeconds", 60),
    ("hub:register", "payload__ttlSeconds", 3600),
    ("hub:register", "payload__ttlSeconds", ABSENT),
    ("hub:register", "payload__metadata", {}),
    ("hub:register", "metadata", {}),
    ("hub:registered", "payload__version", 0),
    ("hub:discover", "payload__pattern", "*"),
    ("hub:discover", "payload__pattern", "*" * 256),
    ("hub:discover", "payload__limit", 1),
    ("hub:discover", "payload__limit", 100),
    ("hub:discover", "payload__limit", ABSENT),
    ("hub:discovered", "payload__actors", []),
    ("hub:list_actors", "payload", {}),
    ("hub:list_actors", "payload__offset", 0),
    ("hub:actor_list", "payload__limit", 1),
    ("hub:actor_list", "payload__total", 0),
    ("hub:send", "payload__message__payload", None),
    ("hub:send", "payload__message__payload", [[1.5, 2**70, "\u2028"], {}]),
    ("hub:send", "metadata__priority", 0),
    ("hub:send", "metadata__priority", 2),
    ("hub:send", "metadata", {}),
    ("hub:broadcast", "payload__excludeSelf", ABSENT),
    ("hub:broadcast_ack", "payload__queuedCount", ABSENT),
    ("hub:broadcast_ack", "payload__deliveredCount", 0),
    ("hub:subscribe", "payload__topic", "aZ09/_-"),
    ("hub:subscribe", "payload__topic", "t" * 256),
    ("hub:published", "payload__subscriberCount", 0),
]

REFUSED: list[tuple[str, str, Any]] = [
    ("hub:register", "payload__ttlSeconds", 59),
    ("hub:register", "payload__ttlSeconds", 3601),
    ("hub:register", "payload__ttlSeconds", 60.5),
    ("hub:register", "payload__ttlSeconds", None),
    ("hub:register", "payload__capabilities", []),
    ("hub:register", "payload__actorAddress", "browser/widget"),
    ("hub:register", "payload__metadata", ABSENT),
    ("hub:register", "payload__metadata", None),
    ("hub:register", "metadata__renewOnHeartbeat", "yes"),
    ("hub:registered", "payload__version", -1),
    ("hub:registered", "payload__renewalToken", ABSENT),
    ("hub:unregister", "payload__actorAddress", "@()"),
    ("hub:discover", "payload__pattern", ""),
    ("hub:discover", "payload__pattern", "*" * 257),
    ("hub:discover", "payload__pattern", ABSENT),
    ("hub:discover", "payload__limit", 0),
    ("hub:discover", "payload__limit", 101),
    ("hub:list_actors", "payload__limit", 0),
    ("hub:list_actors", "payload__limit", 101),
    ("hub:list_actors", "payload__offset", -1),
    ("hub:actor_list", "payload__limit", 0),
    ("hub:actor_list", "payload__hasMore", ABSENT),
    ("hub:renew", "payload__renewalToken", None),
    ("hub:renewed", "payload__expiresAt", -1),
    ("hub:send", "payload__targetAddress", "@(a\n)"),
    ("hub:send", "payload__message__type", ""),
    ("hub:send", "payload__message__type", ABSENT),
    ("hub:send", "payload__message__payload", ABSENT),
    ("hub:send", "payload__message__extra", 1),
    ("hub:send", "metadata__priority", -1),
    ("hub:send", "metadata__priority", 3),
    ("hub:send", "metadata__priority", 1.0),
    ("hub:delivery_ack", "payload__status", "lost"),
    ("hub:delivery_ack", "payload__status", "QUEUED"),
    ("hub:broadcast", "payload__excludeSelf", None),
    ("hub:broadcast_ack", "payload__failedCount", -1),
    ("hub:broadcast_ack", "payload__deliveredCount", ABSENT),
    ("hub:subscribe", "payload__topic", ""),
    ("hub:subscribe", "payload__topic", "t" * 257),
    ("hub:subscribe", "payload__topic", "a b"),
    ("hub:subscribe", "payload__topic", "a\n"),
    ("hub:publish", "payload__topic", "é"),
    ("hub:published", "payload__topic", "*"),
    ("hub:unsubscribe", "payload__subscriptionId", ABSENT),
    ("hub:unsubscribe", "payload__topic", "events"),
]


@pytest.mark.parametrize(("name", "path", "value"), TAKEN)
def test_values_at_the_edge_are_taken(name: str, path: str, value: Any) -> None:
    message = decode(frame(name, **{path: value}))
    assert decode(encode(message)) == message


@pytest.mark.parametrize(("name", "path", "value"), REFUSED)
def test_values_past_the_edge_are_refused(name: str, path: str, value: Any) -> None:
    with pytest.raises(MalformedError):
        decode(frame(name, **{path: value}))


@pytest.mark.parametrize("status", list(DeliveryStatus))
def test_a_send_is_delivered_or_queued(status: DeliveryStatus) -> None:
    message = decode(frame("hub:delivery_ack", payload__status=status.value))
    assert isinstance(message, DeliveryAck)
    assert message.payload.status is status


@pytest.mark.parametrize("field", [*document("hub:discovered")["payload"]["actors"][0]])
def test_an_actor_lacks_nothing(field: str) -> None:
    actors = document("hub:discovered")["payload"]["actors"]
    del actors[0][field]
    with pytest.raises(MalformedError, match=rf"actors\[0\].*{field}"):
        decode(frame("hub:discovered", payload__actors=actors))


def test_an_actor_has_nothing_more() -> None:
    actors = document("hub:discovered")["payload"]["actors"]
    actors[0]["renewalToken"] = "secret"
    with pytest.raises(MalformedError, match="renewalToken"):
        decode(frame("hub:discovered", payload__actors=actors))
