"""Limits of what messages say."""

from typing import Any

import pytest

from protocols.signalhub.documents import ABSENT, document, frame
from wireloom.protocols.signalhub.codec import decode, encode
from wireloom.protocols.signalhub.constants import (
    RETRYABLE,
    DeliveryStatus,
    DisconnectReason,
    ErrorCode,
)
from wireloom.protocols.signalhub.messages import (
    DeliveryAck,
    Disconnect,
    Error,
    QueueStatsResponse,
)
from wireloom.wire.errors import MalformedError

TAKEN: list[tuple[str, str, Any]] = [
    ("hub:connected", "payload__maxMessageSize", 1),
    ("hub:connected", "payload__serverVersion", "next"),
    ("hub:connected", "payload__capabilities__supportedContentTypes", []),
    ("hub:heartbeat_ack", "payload__serverTime", 0),
    ("hub:disconnect", "payload", {}),
    ("hub:queue_stats_response", "payload__processingRate", 0),
    ("hub:queue_stats_response", "payload__processingRate", 12),
    ("hub:error", "payload__details", ABSENT),
    ("hub:error", "payload__details", None),
    ("hub:error", "payload__details", [1, {"a": "b"}]),
    ("hub:rate_limited", "payload__retryAfter", 0),
    ("hub:version_mismatch", "payload__supportedVersions", []),
    ("hub:message_too_large", "payload__messageSize", 2**63 - 1),
    ("hub:register", "payload__ttlSeconds", 60),
    ("hub:register", "payload__ttlSeconds", 3600),
    ("hub:register", "payload__ttlSeconds", ABSENT),
    ("hub:register", "payload__metadata", {}),
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
    ("hub:broadcast", "payload__excludeSelf", ABSENT),
    ("hub:broadcast_ack", "payload__queuedCount", ABSENT),
    ("hub:broadcast_ack", "payload__deliveredCount", 0),
    ("hub:subscribe", "payload__topic", "aZ09/_-"),
    ("hub:subscribe", "payload__topic", "t" * 256),
    ("hub:published", "payload__subscriberCount", 0),
]

REFUSED: list[tuple[str, str, Any]] = [
    ("hub:connected", "payload__maxMessageSize", 0),
    ("hub:connected", "payload__heartbeatInterval", 0),
    ("hub:connected", "payload__capabilities__maxActorsPerInstance", 0),
    ("hub:connected", "payload__capabilities__supportsBackpressure", 1),
    ("hub:connected", "payload__sessionId", ABSENT),
    ("hub:heartbeat", "payload__timestamp", -1),
    ("hub:heartbeat_ack", "payload__serverTime", ABSENT),
    ("hub:disconnect", "payload__reason", None),
    ("hub:pause", "payload__reason", ABSENT),
    ("hub:queue_stats_response", "payload__processingRate", -0.5),
    ("hub:queue_stats_response", "payload__processingRate", "1"),
    ("hub:queue_stats_response", "payload__queueDepth", -1),
    ("hub:queue_stats_response", "payload__queueDepth", 1.5),
    ("hub:error", "payload__code", "invalid_message"),
    ("hub:error", "payload__code", "TIMEOUT"),
    ("hub:error", "payload__retryable", ABSENT),
    ("hub:unknown_actor", "payload__actorAddress", "a"),
    ("hub:rate_limited", "payload__retryAfter", -1),
    ("hub:message_too_large", "payload__maxSize", 2**63),
    ("hub:register", "payload__ttlSeconds", 59),
    ("hub:register", "payload__ttlSeconds", 3601),
    ("hub:register", "payload__ttlSeconds", 60.5),
    ("hub:register", "payload__ttlSeconds", None),
    ("hub:register", "payload__capabilities", []),
    ("hub:register", "payload__actorAddress", "browser/widget"),
    ("hub:register", "payload__metadata", ABSENT),
    ("hub:register", "payload__metadata", None),
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


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_code_is_taken(code: ErrorCode) -> None:
    message = decode(frame("hub:error", payload__code=code.value))
    assert isinstance(message, Error)
    assert message.payload.code is code


def test_three_codes_can_be_tried_again() -> None:
    assert {code.value for code in RETRYABLE} == {"rate_limited", "timeout", "internal_error"}


@pytest.mark.parametrize("reason", [*DisconnectReason, "because"])
def test_the_reasons_to_disconnect_are_open(reason: str) -> None:
    message = decode(frame("hub:disconnect", payload__reason=str(reason)))
    assert isinstance(message, Disconnect)
    assert message.payload.reason == reason


@pytest.mark.parametrize("literal", ["0.1", "12.50", "1e2", "-0.0", "5e-324"])
def test_a_rate_may_be_written_in_any_way(literal: str) -> None:
    raw = frame("hub:queue_stats_response").replace(b"812.5", literal.encode())
    message = decode(raw)
    assert isinstance(message, QueueStatsResponse)
    assert message.payload.processing_rate == float(literal)
    assert decode(encode(message)) == message


@pytest.mark.parametrize("literal", ["1e400", "NaN", "Infinity", "1" + "0" * 400])
def test_a_rate_must_be_finite(literal: str) -> None:
    with pytest.raises(MalformedError):
        decode(frame("hub:queue_stats_response").replace(b"812.5", literal.encode()))


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
