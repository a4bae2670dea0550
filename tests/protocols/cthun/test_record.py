"""Cthun messages in the common record and as plain fields."""

import json
from typing import Any

import msgspec
import pytest

from protocols.cthun.samples import (
    AGENT,
    APPLICATION,
    CONTROLLER,
    GREETING,
    ID,
    OTHER_ID,
    SAMPLES,
)
from wireloom.protocols.cthun.chunks import Chunk, join
from wireloom.protocols.cthun.codec import decode, encode
from wireloom.protocols.cthun.constants import ChunkType, MessageType
from wireloom.protocols.cthun.documents import ENVELOPE
from wireloom.protocols.cthun.messages import DebugChunk, Packet, TtlExpired
from wireloom.protocols.cthun.record import from_fields, summarise
from wireloom.wire.errors import MalformedError
from wireloom.wire.message import Cast, Summary
from wireloom.wire.plain import to_plain

INVENTORY = MessageType.INVENTORY_REQUEST.value
TTL_EXPIRED = MessageType.TTL_EXPIRED.value


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
        cast=Cast.WILDCARD,
        hops=0,
        reply_to=None,
        payload_size=9,
    )


@pytest.mark.parametrize(
    ("targets", "cast"),
    [
        ((), Cast.UNICAST),
        ((AGENT,), Cast.UNICAST),
        ((AGENT, CONTROLLER), Cast.MULTI),
        (("cth://agent-1.example.com/*",), Cast.WILDCARD),
        ((AGENT, "cth://*/agent"), Cast.WILDCARD),
    ],
)
def test_the_targets_tell_how_many_a_message_is_for(targets: tuple[str, ...], cast: Cast) -> None:
    envelope = msgspec.structs.replace(GREETING, targets=targets)
    assert summarise(Packet(envelope=envelope), b"").cast is cast


def test_the_hops_of_all_debug_chunks_count() -> None:
    assert summarise(packet("reserved bits and hops"), b"").hops == 2


def test_a_report_of_the_broker_replies_to_the_message_it_is_about() -> None:
    for in_reply_to in (msgspec.UNSET, ID):
        envelope = msgspec.structs.replace(packet(TTL_EXPIRED).envelope, in_reply_to=in_reply_to)
        report = Packet(envelope=envelope, data=TtlExpired(id=OTHER_ID))
        assert summarise(report, encode(report)).reply_to == OTHER_ID


def test_any_other_message_replies_to_what_its_envelope_names() -> None:
    error = packet(MessageType.ERROR_MESSAGE.value)
    assert summarise(error, encode(error)).reply_to == OTHER_ID
    answer = Packet(envelope=msgspec.structs.replace(GREETING, in_reply_to=ID))
    assert summarise(answer, b"").reply_to == ID
    assert summarise(packet(APPLICATION), b"").reply_to is None


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("application without data", 0),
        ("application with empty data", 0),
        ("associate_request with empty data", 0),
        ("reserved bits and hops", 1),
        (INVENTORY, len(b'{"query":["cth://*/agent"]}')),
    ],
)
def test_the_data_chunk_is_the_payload(name: str, size: int) -> None:
    assert summarise(packet(name), encode(packet(name))).payload_size == size


def test_the_size_of_the_brokers_data_is_that_on_the_wire() -> None:
    raw = join(
        [
            Chunk(ChunkType.ENVELOPE, 0, ENVELOPE.put(packet(INVENTORY).envelope)),
            Chunk(ChunkType.DATA, 0, b'{ "query" : [] }'),
        ]
    )
    assert summarise(decode(raw), raw).payload_size == 16


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
