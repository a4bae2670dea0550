"""The list of types, and what all of them have in common."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from protocols.signalhub.documents import ABSENT, frame
from protocols.signalhub.samples import SAMPLES
from wireloom.protocols.signalhub.codec import decode
from wireloom.protocols.signalhub.messages import HUB_CLASSES, TYPES, Application
from wireloom.wire.descriptions import describe, parts
from wireloom.wire.errors import MalformedError
from wireloom.wire.message import Message

LISTED = {
    *("connect", "connected", "heartbeat", "heartbeat_ack", "disconnect"),
    *("register", "registered", "unregister", "discover", "discovered"),
    *("list_actors", "actor_list", "renew", "renewed"),
    *("send", "delivery_ack", "broadcast", "broadcast_ack", "subscribe", "subscribed"),
    *("publish", "published", "unsubscribe"),
    *("pause", "resume", "queue_stats", "queue_stats_response"),
    *("error", "unknown_actor", "unauthorized", "rate_limited"),
    *("version_mismatch", "message_too_large"),
}
ASKS = {
    *("connect", "register", "discover", "list_actors", "renew", "subscribe", "queue_stats"),
}
LINKED = {
    *("connected", "registered", "discovered", "actor_list", "renewed", "delivery_ack"),
    *("subscribed", "queue_stats_response", "unknown_actor", "rate_limited"),
    *("version_mismatch", "message_too_large"),
}
MESSAGES: tuple[type[Message], ...] = (*HUB_CLASSES, Application)
CLASSES = list(dict.fromkeys(one for cls in MESSAGES for one in (cls, *parts(cls))))
"""All messages and all that they are made of."""


def test_there_are_33_types() -> None:
    assert len(TYPES) == 33
    assert set(TYPES) == {f"hub:{name}" for name in LISTED}


@pytest.mark.parametrize("name", sorted(LISTED - {"send"}))
def test_every_type_but_send_has_one_pattern(name: str) -> None:
    right, wrong = ("ask", "tell") if name in ASKS else ("tell", "ask")
    decode(frame(f"hub:{name}", pattern=right))
    with pytest.raises(MalformedError, match="pattern"):
        decode(frame(f"hub:{name}", pattern=wrong))


@pytest.mark.parametrize("pattern", ["tell", "ask"])
def test_a_send_and_an_application_have_either_pattern(pattern: str) -> None:
    decode(frame("send_tell", pattern=pattern))
    decode(frame("application", pattern=pattern))


@pytest.mark.parametrize("value", [None, ABSENT])
@pytest.mark.parametrize("name", sorted(LISTED))
def test_a_response_must_be_linked_to_its_request(name: str, value: Any) -> None:
    raw = frame(f"hub:{name}", correlationId=value)
    if name not in LINKED:
        decode(raw)
        return
    with pytest.raises(MalformedError, match="correlationId"):
        decode(raw)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_what_may_be_absent_is_unset_and_nothing_else(cls: type[Message]) -> None:
    """The codec's check for duplicate keys is sound only if no default is ever written."""
    for field in msgspec.structs.fields(cls):
        assert field.required or field.default is UNSET, field.name


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_object_is_closed_and_camel_case_on_the_wire(cls: type[Message]) -> None:
    assert cls.__struct_config__.forbid_unknown_fields
    assert not any("_" in name for name in cls.__struct_encode_fields__)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_field_says_what_it_means(cls: type[Message]) -> None:
    assert all(field.meaning.endswith(".") for field in describe(cls))


def test_a_connect_carries_no_payload() -> None:
    decode(frame("hub:connect", payload=None))
    decode(frame("hub:connect", payload=ABSENT))
    with pytest.raises(MalformedError, match="payload"):
        decode(frame("hub:connect", payload={}))


@pytest.mark.parametrize("name", sorted(LISTED - {"connect"}))
def test_every_other_type_must_carry_one(name: str) -> None:
    for value in (None, ABSENT, []):
        with pytest.raises(MalformedError, match="payload"):
            decode(frame(f"hub:{name}", payload=value))


@pytest.mark.parametrize("name", sorted(LISTED - {"connect"}))
def test_no_payload_takes_a_field_more(name: str) -> None:
    with pytest.raises(MalformedError, match="unheardOf"):
        decode(frame(f"hub:{name}", payload__unheardOf=1))


@pytest.mark.parametrize("name", ["connect", "connected", "register", "send", "broadcast"])
def test_declared_metadata_takes_no_field_more(name: str) -> None:
    with pytest.raises(MalformedError, match="unheardOf"):
        decode(frame(f"hub:{name}", metadata__unheardOf=1))


@pytest.mark.parametrize(
    "type_", ["task:assign", "hub", "Hub:send", "hubs", " hub:send", "\n", "é"]
)
def test_any_type_that_is_not_the_hubs_is_an_application(type_: str) -> None:
    message = decode(frame("application", type=type_))
    assert isinstance(message, Application)
    assert message.type == type_


def test_an_application_must_have_a_type() -> None:
    with pytest.raises(MalformedError, match="type"):
        decode(frame("application", type=""))


def test_every_sample_is_of_the_class_that_its_type_names() -> None:
    for name, cls in TYPES.items():
        assert type(SAMPLES[name]) is cls
