"""Where fields lie, in JSON and in MessagePack."""

import msgspec
import pytest

from protocols.signalhub.documents import frame
from protocols.signalhub.samples import SAMPLES
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.messages import Application, Send
from wireloom.protocols.signalhub.spans import (
    is_json,
    is_msgpack,
    offset_of,
    openings,
    plain_path,
    spans,
)
from wireloom.wire.plain import to_plain

NAMES = [
    *("type", "id", "from", "to", "pattern", "correlation_id", "timestamp"),
    *("payload.target_address", "payload.message.type"),
    *("payload.message.payload.taskId", "payload.message.payload.priority"),
    *("metadata.require_ack", "metadata.trace_id", "metadata.priority", "ttl", "signature"),
]


@pytest.mark.parametrize("encode", [codec.encode, codec.encode_msgpack])
def test_spans_are_named_as_the_plain_fields(encode: object) -> None:
    assert callable(encode)
    assert [span.name for span in spans(encode(SAMPLES["hub:send"]))] == NAMES


@pytest.mark.parametrize("name", SAMPLES)
def test_spans_of_both_encodings_have_the_same_names(name: str) -> None:
    message = SAMPLES[name]
    text = [span.name for span in spans(codec.encode(message))]
    assert text == [span.name for span in spans(codec.encode_msgpack(message))]
    shown = to_plain(message)
    assert {one.partition(".")[0] for one in text} == shown.keys() | {"type"}


def test_spans_hold_the_values() -> None:
    raw = frame("hub:send")
    found = {span.name: raw[span.offset : span.offset + span.size] for span in spans(raw)}
    assert found["payload.target_address"] == b'"@(browser/widget-123)"'
    assert found["ttl"] == b"5000"


def test_spans_count_bytes_not_characters() -> None:
    raw = frame("hub:heartbeat", **{"from": "@(é)"})
    span = next(span for span in spans(raw) if span.name == "timestamp")
    assert raw[span.offset : span.offset + span.size] == b"1739731000000"


def test_spans_stop_at_the_first_fault() -> None:
    raw = frame("hub:heartbeat")
    assert 0 < len(spans(raw[:120])) < len(spans(raw))
    packed = codec.encode_msgpack(SAMPLES["hub:heartbeat"])
    assert 0 < len(spans(packed[:120])) < len(spans(packed))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[1]",
        b"{",
        b"\x80",
        b"\xff",
        b'{"a":' * 5000,
        b'{"a":' + b"1" * 5000 + b"}",
        b'{"type":5}',
        b'{"type":"\xff"}',
        b"\x81\xa4type\xa1\xff",
        b"\x81\xa4type\x05",
    ],
)
def test_spans_never_fail(raw: bytes) -> None:
    assert all(span.offset + span.size <= len(raw) for span in spans(raw))


def test_an_unlisted_type_has_the_names_of_the_envelope() -> None:
    names = [span.name for span in spans(frame("hub:send", type="hub:teleport"))]
    assert "correlation_id" in names
    assert "payload.targetAddress" in names


def test_only_declared_names_change() -> None:
    assert plain_path(Send, "payload.message.payload.a.B.targetAddress") == (
        "payload.message.payload.a.B.targetAddress"
    )
    assert plain_path(Send, "payload.unheardOf") == "payload.unheardOf"
    assert plain_path(Application, "correlationId") == "correlation_id"
    assert plain_path(Send, "payload") == "payload"


def test_an_offset_is_found_for_a_value_and_for_an_object() -> None:
    raw = frame("hub:discovered")
    at = offset_of(raw, "payload.actors[0].version")
    assert at is not None
    assert raw[at : at + 3] == b'[{"'
    at = offset_of(raw, "payload")
    assert at == offset_of(raw, "payload.actors")
    assert offset_of(raw, "nowhere") is None


def test_no_offset_is_looked_for_in_a_large_frame() -> None:
    raw = frame("hub:heartbeat", metadata={"x": "y" * 65_536})
    assert offset_of(raw, "id") is None


def test_the_first_byte_tells_the_encodings_apart() -> None:
    assert is_json(b"{}")
    assert is_json(b" \r\n\t{}")
    assert not is_json(b"[]")
    assert not is_json(b"")
    assert is_msgpack(b"\x80")
    assert is_msgpack(b"\xde\0\0")
    assert not is_msgpack(b"\x90")
    assert not is_msgpack(b"")


def test_openings_are_no_fewer_than_lists_and_objects() -> None:
    fields = {"a": [[], {}], "b": "[é"}
    assert openings(msgspec.json.encode(fields)) == 5
    assert openings(msgspec.msgpack.encode(fields)) == 4
    assert openings(msgspec.msgpack.encode({"a": [0] * 20, "b": "Ü"})) == 3
