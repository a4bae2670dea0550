"""The hub's six errors as exceptions."""

from typing import Any

import msgspec
import pytest

from protocols.signalhub.samples import SAMPLES
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.client import errors
from wireloom.protocols.signalhub.client.faults import error_of, may_answer
from wireloom.protocols.signalhub.constants import ErrorCode

ID = "11111111-1111-4111-8111-111111111111"


def said(type_: str, payload: Any, correlation_id: str | None = ID) -> Any:
    document = {
        "type": type_,
        "id": ID,
        "from": "@(h)",
        "to": "@(a)",
        "pattern": "tell",
        "correlationId": correlation_id,
        "timestamp": 1,
        "payload": payload,
    }
    return codec.decode(msgspec.json.encode(document))


VERSIONS = {"clientVersion": "9.0.0", "serverVersion": "0.1.0", "supportedVersions": []}


@pytest.mark.parametrize(
    ("type_", "payload", "kind", "text"),
    [
        (
            "hub:unknown_actor",
            {"actorAddress": "@(x)", "message": "?"},
            errors.UnknownActorError,
            "@(x) is not registered",
        ),
        (
            "hub:unauthorized",
            {"action": "renew", "reason": "no token"},
            errors.UnauthorizedError,
            "the hub does not permit renew: no token",
        ),
        (
            "hub:rate_limited",
            {"retryAfter": 40},
            errors.RateLimitedError,
            "the hub wants no more for 40 ms",
        ),
        (
            "hub:version_mismatch",
            {**VERSIONS, "message": "use 0.x"},
            errors.VersionMismatchError,
            "use 0.x",
        ),
        (
            "hub:message_too_large",
            {"messageSize": 9, "maxSize": 5},
            errors.MessageTooLargeError,
            "9 bytes are too many, the hub takes 5",
        ),
        (
            "hub:error",
            {"code": "timeout", "message": "late", "retryable": True},
            errors.FaultError,
            "late",
        ),
    ],
)
def test_each_type_has_its_class(
    type_: str, payload: Any, kind: type[errors.HubError], text: str
) -> None:
    error = error_of(said(type_, payload))
    assert type(error) is kind
    assert (str(error), error.about) == (text, ID)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("unknown_actor", errors.UnknownActorError),
        ("unauthorized", errors.UnauthorizedError),
        ("version_mismatch", errors.VersionMismatchError),
        ("message_too_large", errors.MessageTooLargeError),
        ("message_expired", errors.FaultError),
        ("timeout", errors.FaultError),
        ("internal_error", errors.FaultError),
    ],
)
def test_a_code_gives_the_same_class_as_its_type(code: str, kind: type[errors.HubError]) -> None:
    payload = {"code": code, "message": "m", "retryable": True, "details": {"a": 1}}
    error = error_of(said("hub:error", payload, None))
    assert type(error) is kind
    assert (error.code, error.retryable, error.details) == (ErrorCode(code), True, {"a": 1})
    assert error.about is None


@pytest.mark.parametrize(
    ("details", "wait_ms"), [({"retryAfter": 7}, 7), ({"retryAfter": "7"}, 0), ({}, 0), (None, 0)]
)
def test_how_long_to_wait_may_stand_in_the_details(details: Any, wait_ms: int) -> None:
    payload = {"code": "rate_limited", "message": "m", "retryable": True, "details": details}
    error = error_of(said("hub:error", payload))
    assert isinstance(error, errors.RateLimitedError)
    assert error.retry_after_ms == wait_ms


def test_other_messages_are_no_errors() -> None:
    assert error_of(said("hub:resume", {})) is None


@pytest.mark.parametrize(
    ("raw", "may"),
    [
        (b"", True),
        (b"\xff", True),
        (b'{"type" : "hub:renewed", "payload', True),
        (b'{"type":"hub:pause"', False),
        (b'{"type":"hub:teleport"', False),
        (b'{"id":1,"type":"chat","payload":{"type":"hub:renewed"}}', False),
        (codec.encode_msgpack(SAMPLES["hub:renewed"])[:-1], True),
        (codec.encode_msgpack(SAMPLES["hub:resume"])[:-1], False),
    ],
)
def test_what_may_be_an_answer_is_told_by_the_type_that_can_be_seen(raw: bytes, may: bool) -> None:
    assert may_answer(raw) is may
