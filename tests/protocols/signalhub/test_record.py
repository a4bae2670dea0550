"""The common columns, and plain fields back to messages."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from protocols.signalhub.samples import CLIENT, HUB, ID, NOW, REQUEST_ID, SAMPLES, WIDGET
from protocols.signalhub.strategies import MESSAGES
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.messages import TYPES, Send
from wireloom.protocols.signalhub.metadata import (
    SendMetadata,
)
from wireloom.protocols.signalhub.record import from_fields, summarise
from wireloom.wire.errors import MalformedError, UnknownTypeError
from wireloom.wire.message import Cast, Summary, Unknown
from wireloom.wire.plain import to_plain


def test_a_summary_tells_who_what_and_when() -> None:
    assert summarise(SAMPLES["hub:send"], b"") == Summary(
        type="hub:send",
        id=ID,
        source=CLIENT,
        destination=WIDGET,
        created_ms=NOW,
        expires_ms=NOW + 5000,
        priority_rank=0,
        cast=Cast.UNICAST,
        hops=1,
    )


@pytest.mark.parametrize(
    ("name", "cast"),
    [
        ("hub:broadcast", Cast.BROADCAST),
        ("hub:publish", Cast.TOPIC),
        ("hub:subscribe", Cast.UNICAST),
        ("application", Cast.UNICAST),
    ],
)
def test_the_type_tells_how_many_a_message_is_for(name: str, cast: Cast) -> None:
    assert summarise(SAMPLES[name], b"").cast is cast


def test_an_answer_replies_to_its_request() -> None:
    assert summarise(SAMPLES["hub:delivery_ack"], b"").reply_to == REQUEST_ID
    assert summarise(SAMPLES["hub:broadcast_ack"], b"").reply_to is None
    assert summarise(SAMPLES["send_bare"], b"").reply_to is None


@pytest.mark.parametrize(
    ("metadata", "reply_to"),
    [
        (UNSET, ID),
        ({}, ID),
        ({"originalMessageId": 5}, ID),
        ({"originalMessageId": REQUEST_ID}, REQUEST_ID),
    ],
)
def test_what_the_hub_forwards_replies_to_what_was_sent(metadata: Any, reply_to: str) -> None:
    message = replace(SAMPLES["application"], metadata=metadata, correlation_id=ID)
    assert summarise(message, b"").reply_to == reply_to


@pytest.mark.parametrize(
    ("name", "destination"),
    [
        ("hub:send", WIDGET),
        ("hub:publish", "events/ui"),
        ("hub:subscribe", HUB),
        ("hub:connected", CLIENT),
        ("application", WIDGET),
    ],
)
def test_the_destination_is_who_gets_it_in_the_end(name: str, destination: str) -> None:
    assert summarise(SAMPLES[name], b"").destination == destination


@pytest.mark.parametrize(("priority", "rank"), [(0, 0), (1, 2), (2, 4), (UNSET, None)])
def test_the_three_priorities_have_ranks(priority: Any, rank: int | None) -> None:
    send = SAMPLES["hub:send"]
    assert isinstance(send, Send)
    message = replace(send, metadata=SendMetadata(priority=priority))
    assert summarise(message, b"").priority_rank == rank


def test_without_metadata_there_is_no_priority() -> None:
    assert summarise(SAMPLES["send_bare"], b"").priority_rank is None
    assert summarise(SAMPLES["hub:heartbeat"], b"").priority_rank is None


def test_the_type_is_the_one_on_the_wire() -> None:
    for name in TYPES:
        assert summarise(SAMPLES[name], b"").type == name
    assert summarise(SAMPLES["application"], b"").type == "task:assign"
    unknown = Unknown(type="hub:teleport", raw=b"{}")
    assert summarise(unknown, b"{}") == Summary(type="hub:teleport")


def test_plain_fields_are_snake_case_and_free_objects_as_written() -> None:
    assert to_plain(SAMPLES["hub:send"]) == {
        "id": ID,
        "from": CLIENT,
        "to": HUB,
        "pattern": "ask",
        "correlation_id": None,
        "timestamp": NOW,
        "payload": {
            "target_address": WIDGET,
            "message": {"type": "task:assign", "payload": {"taskId": "task-456", "priority": 1}},
        },
        "metadata": {"require_ack": True, "trace_id": "trace-xyz", "priority": 0},
        "ttl": 5000,
        "signature": None,
    }


def test_absent_fields_are_left_out_of_the_plain_form() -> None:
    assert to_plain(SAMPLES["send_bare"]).keys() == {
        *("id", "from", "to", "pattern", "timestamp", "payload")
    }


@pytest.mark.parametrize("name", SAMPLES)
def test_plain_fields_make_the_message_again(name: str) -> None:
    message = SAMPLES[name]
    fields = json.loads(json.dumps(to_plain(message)))
    assert from_fields(summarise(message, b"").type, fields) == message


@given(data=st.data())
def test_plain_fields_of_an_application_make_it_again(data: st.DataObject) -> None:
    message = data.draw(MESSAGES["application"])
    fields = json.loads(json.dumps(to_plain(message)))
    again = from_fields(summarise(message, b"").type, fields)
    assert codec.encode(again) == codec.encode(message)


def test_the_type_of_an_application_may_be_left_out_of_its_fields() -> None:
    fields = to_plain(SAMPLES["application"])
    del fields["type"]
    assert from_fields("task:assign", fields) == SAMPLES["application"]


def test_two_types_that_differ_are_refused() -> None:
    with pytest.raises(MalformedError, match=r"fields\.type is 'task:assign'"):
        from_fields("task:other", to_plain(SAMPLES["application"]))


def test_an_unlisted_hub_type_is_refused() -> None:
    with pytest.raises(UnknownTypeError, match="hub:teleport"):
        from_fields("hub:teleport", {})


@pytest.mark.parametrize("fields", [None, [], "x", 5])
@pytest.mark.parametrize("type_", ["hub:send", "task:assign"])
def test_fields_that_are_no_object_are_refused(type_: str, fields: object) -> None:
    with pytest.raises(MalformedError, match="must be an object"):
        from_fields(type_, fields)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("hub:connect", "payload", 5),
        ("hub:connect", "pattern", "tell"),
        ("hub:connect", "pattern", []),
        ("hub:connect", "metadata", None),
        ("hub:heartbeat", "timestamp", "now"),
        ("hub:heartbeat", "unheard_of", 1),
        ("hub:error", "payload", {"code": "TIMEOUT", "message": "", "retryable": True}),
    ],
)
def test_fields_of_a_wrong_kind_are_refused(name: str, field: str, value: object) -> None:
    fields = {**to_plain(SAMPLES[name]), field: value}
    with pytest.raises(MalformedError):
        codec.encode(from_fields(name, fields))
