"""Cthun messages in the common record and as plain fields."""

import json
from typing import Any

import msgspec
import pytest

from protocols.cthun.samples import AGENT, APPLICATION, CONTROLLER, GREETING, ID, SAMPLES
from wireloom.protocols.cthun.codec import encode
from wireloom.protocols.cthun.constants import MessageType
from wireloom.protocols.cthun.messages import DebugChunk, Packet
from wireloom.protocols.cthun.record import from_fields, summarise
from wireloom.wire.errors import MalformedError
from wireloom.wire.message import Summary
from wireloom.wire.plain import to_plain

INVENTORY = MessageType.INVENTORY_REQUEST.value


def packet(name: str) -> Packet:
    sample = SAMPLES[name]
    assert isinstance(sample, Packet)
    return sample


def test_summary_of_a_message_without_hops() -> None:
    assert summarise(packet(APPLICATION), b"") == Summary(
        type=APPLICATION,
        id=ID,
        source=CONTROLLER,
        destination=(AGENT, "cth://*/agent"),
        created_ms=None,
        expires_ms=1_430_136_003_000,
        priority_rank=None,
    )


def test_the_first_hop_tells_when_a_message_was_made() -> None:
    sample = packet("reserved bits and hops")
    assert summarise(sample, b"").created_ms == 1_430_136_000_120
    later = msgspec.structs.replace(sample, debug_chunks=(DebugChunk(), *sample.debug_chunks))
    assert summarise(later, b"").created_ms == 1_430_136_000_120


def test_data_of_the_broker_is_an_object_and_an_applications_hex() -> None:
    assert to_plain(packet(INVENTORY))["data"] == {"query": ["cth://*/agent"]}
    assert to_plain(packet(APPLICATION))["data"] == "2248656c6c6f2200ff"
    assert to_plain(packet("application without data"))["data"] is None
    assert to_plain(packet("application with empty data"))["data"] == ""
    assert to_plain(packet("associate_request with empty data"))["data"] == {}


@pytest.mark.parametrize("name", list(SAMPLES))
def test_fields_make_the_message_again(name: str) -> None:
    sample = packet(name)
    fields = json.loads(json.dumps(to_plain(sample)))
    assert from_fields(sample.envelope.message_type, fields) == sample


def test_fields_may_leave_out_what_has_a_default() -> None:
    fields = {"envelope": to_plain(GREETING)}
    assert from_fields(APPLICATION, fields) == Packet(envelope=GREETING)


@pytest.mark.parametrize(
    ("type_", "changes"),
    [
        (INVENTORY, {"data": "00"}),
        (INVENTORY, {"data": {"query": ["cth://*/agent"], "more": 1}}),
        (INVENTORY, {"data": {}}),
        (INVENTORY, {"version": 2}),
        (INVENTORY, {"more": 1}),
        (INVENTORY, {"envelope": {}}),
        (INVENTORY, {"debug_chunks": None}),
        (APPLICATION, {}),
    ],
)
def test_fields_that_make_no_message_are_refused(type_: str, changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        encode(from_fields(type_, to_plain(packet(INVENTORY)) | changes))


@pytest.mark.parametrize("data", ["0", "xx", 5, {"a": 1}, ["00"]])
def test_an_applications_data_must_be_hex(data: object) -> None:
    with pytest.raises(MalformedError, match=r"fields\.data"):
        from_fields(APPLICATION, to_plain(packet(APPLICATION)) | {"data": data})


@pytest.mark.parametrize("fields", [None, [], "x"])
def test_fields_must_be_an_object(fields: object) -> None:
    with pytest.raises(MalformedError, match="object"):
        from_fields(APPLICATION, fields)
