"""The envelope: what every message must have and may have."""

from typing import Any

import pytest
from msgspec import UNSET

from protocols.signalhub.documents import ABSENT, frame
from protocols.signalhub.samples import SAMPLES
from wireloom.protocols.signalhub.codec import decode, encode
from wireloom.protocols.signalhub.envelope import SharedMessage, emitted
from wireloom.protocols.signalhub.messages import Application, Connect, Heartbeat, Send
from wireloom.protocols.signalhub.metadata import (
    SendMetadata,
)
from wireloom.protocols.signalhub.payloads import (
    HeartbeatPayload,
)
from wireloom.wire.errors import MalformedError


@pytest.mark.parametrize("field", ["id", "from", "to", "type", "pattern", "timestamp", "payload"])
def test_a_required_field_must_be_there(field: str) -> None:
    with pytest.raises(MalformedError, match=field):
        decode(frame("hub:heartbeat", **{field: ABSENT}))


@pytest.mark.parametrize(
    ("field", "attribute"),
    [
        ("correlationId", "correlation_id"),
        ("metadata", "metadata"),
        ("ttl", "ttl"),
        ("signature", "signature"),
    ],
)
def test_an_optional_field_may_be_absent_and_stays_so(field: str, attribute: str) -> None:
    message = decode(frame("hub:heartbeat", **{field: ABSENT}))
    assert getattr(message, attribute) is UNSET
    assert field.encode() not in encode(message)
    assert decode(encode(message)) == message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "7C9E6679-7425-40DE-944B-E07FC1F90AE7"),
        ("from", "@(é/ü)"),
        ("timestamp", 0),
        ("timestamp", 2**63 - 1),
        ("correlationId", "7c9e6679-7425-40de-944b-e07fc1f90ae7"),
        ("correlationId", None),
        ("ttl", 1),
        ("ttl", None),
        ("ttl", 2**63 - 1),
        ("signature", ""),
        ("signature", None),
        ("metadata", {"anything": [1, 2.5, None]}),
    ],
)
def test_values_at_the_edge_are_taken(field: str, value: Any) -> None:
    message = decode(frame("hub:heartbeat", **{field: value}))
    assert decode(encode(message)) == message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "7c9e6679-7425-40de-944b-e07fc1f90ae"),
        ("id", "7c9e6679-7425-40de-944b-e07fc1f90ae7\n"),
        ("id", "7c9e6679742540de944be07fc1f90ae7"),
        ("id", None),
        ("from", "browser/client"),
        ("from", "@()"),
        ("from", "@(a\nb)"),
        ("from", "@(a)\n"),
        ("to", "x@(a)"),
        ("to", "@(a\x00)"),
        ("pattern", "shout"),
        ("pattern", "ask"),
        ("pattern", None),
        ("timestamp", -1),
        ("timestamp", 2**63),
        ("timestamp", 1.0),
        ("timestamp", True),
        ("timestamp", "1739731000000"),
        ("timestamp", None),
        ("correlationId", "request-1"),
        ("correlationId", ""),
        ("ttl", 0),
        ("ttl", -1),
        ("ttl", 2**63),
        ("ttl", 1.5),
        ("signature", 5),
        ("metadata", None),
        ("metadata", []),
        ("payload", None),
        ("unheard_of", 1),
        ("correlation_id", None),
        ("from_", "@(a)"),
    ],
)
def test_values_past_the_edge_are_refused(field: str, value: Any) -> None:
    with pytest.raises(MalformedError):
        decode(frame("hub:heartbeat", **{field: value}))


def test_what_is_made_here_is_emitted_with_nulls() -> None:
    bare = SAMPLES["send_bare"]
    assert isinstance(bare, Send)
    full = emitted(bare)
    assert (full.correlation_id, full.ttl, full.signature) == (None, None, None)
    assert full.metadata == SendMetadata()
    assert full.payload == bare.payload
    assert b'"metadata":{}' in encode(full)


def test_metadata_of_a_free_type_is_emitted_as_an_empty_object() -> None:
    made = emitted(
        Heartbeat(
            id="7c9e6679-7425-40de-944b-e07fc1f90ae7",
            from_="@(a)",
            to="@(b)",
            pattern="tell",
            timestamp=1,
            payload=HeartbeatPayload(timestamp=1),
        )
    )
    assert made.metadata == {}
    assert decode(encode(made)) == made


def test_the_payload_of_a_connect_is_emitted_as_null() -> None:
    decoded = decode(frame("hub:connect", payload=ABSENT))
    assert isinstance(decoded, Connect)
    assert decoded.payload is UNSET
    assert emitted(decoded).payload is None


def test_every_sample_can_be_emitted() -> None:
    for message in SAMPLES.values():
        assert isinstance(message, SharedMessage)
        full = emitted(message)
        assert decode(encode(full)) == full
        assert emitted(full) is full


def test_an_application_may_have_no_payload() -> None:
    message = decode(frame("application", payload=ABSENT))
    assert isinstance(message, Application)
    assert message.payload is UNSET
    assert emitted(message).payload is None
