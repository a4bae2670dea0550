"""Limits of what connection, flow control and faults say."""

from typing import Any

import pytest

from protocols.signalhub.documents import ABSENT, frame
from wireloom.protocols.signalhub.codec import decode, encode
from wireloom.protocols.signalhub.constants import RETRYABLE, DisconnectReason, ErrorCode
from wireloom.protocols.signalhub.messages import Disconnect, Error, QueueStatsResponse
from wireloom.wire.errors import MalformedError

TAKEN: list[tuple[str, str, Any]] = [
    ("hub:connect", "metadata__protocolVersion", "1.0.0-rc.1+5"),
    ("hub:connect", "metadata__protocolVersion", "1.0.0-" + "a" * 250),
    ("hub:connect", "metadata__capabilities", [""]),
    ("hub:connect", "metadata__authToken", ABSENT),
    ("hub:connect", "metadata__clientMetadata", {}),
    ("hub:connect", "metadata__clientMetadata", ABSENT),
    ("hub:connected", "metadata", {}),
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
]

REFUSED: list[tuple[str, str, Any]] = [
    ("hub:connect", "metadata", ABSENT),
    ("hub:connect", "metadata__protocolVersion", ABSENT),
    ("hub:connect", "metadata__protocolVersion", "0.1"),
    ("hub:connect", "metadata__protocolVersion", "0.1.0\n"),
    ("hub:connect", "metadata__protocolVersion", "1.0.0-" + "a" * 251),
    ("hub:connect", "metadata__capabilities", []),
    ("hub:connect", "metadata__capabilities", [1]),
    ("hub:connect", "metadata__capabilities", ABSENT),
    ("hub:connect", "metadata__authToken", None),
    ("hub:connect", "metadata__clientMetadata", {"language": "de"}),
    ("hub:connected", "metadata__actorIdentity", "user-1"),
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
