"""Frames: what is a bundle, what a message by itself, and where their fields lie."""

from hashlib import sha256
from typing import Any

import cbor2
import msgspec
import pytest

from protocols.dtn.samples import (
    ACK,
    DATA,
    FULL_ACK,
    HOP_ACK,
    METRICS,
    RECEIPT,
    SAMPLES,
    SUB_MSG,
    bundled,
)
from support.cases import vectors
from wireloom.protocols.dtn.codec import decode, encode, spans
from wireloom.protocols.dtn.constants import MAX_GROWTH, SURE_SIZE
from wireloom.protocols.dtn.control import put_control
from wireloom.protocols.dtn.maps import flat
from wireloom.protocols.dtn.messages import Bundle, ControlMessage, DeliveryAck, HopAck
from wireloom.protocols.dtn.parts import DeliveryPathHop
from wireloom.wire.errors import (
    MalformedError,
    TooLargeError,
    TrailingBytesError,
    TruncatedError,
    UnknownTypeError,
)
from wireloom.wire.message import Unknown
from wireloom.wire.plain import to_plain


def test_an_empty_frame_is_truncated() -> None:
    with pytest.raises(TruncatedError, match="empty"):
        decode(b"")


@pytest.mark.parametrize("raw", [b"\x83\1\2\3", b"hello world", b"\0\1\2\3\4\5\6\7\x08"])
def test_bytes_that_are_neither_are_called_so(raw: bytes) -> None:
    with pytest.raises(MalformedError, match="neither a CBOR map nor the lengths of a bundle"):
        decode(raw)


def test_a_cut_bundle_is_told_as_a_bundle() -> None:
    raw = encode(bundled(HOP_ACK))
    for size in range(72, len(raw)):
        with pytest.raises(TruncatedError, match=f"a bundle of {len(raw)} bytes"):
            decode(raw[:size])
    with pytest.raises(TrailingBytesError):
        decode(raw + b"\0")


def test_data_travels_in_bundles_only() -> None:
    raw = put_control(DATA)
    with pytest.raises(UnknownTypeError, match="0 is not known outside a bundle"):
        decode(raw)
    assert decode(raw, lenient=True) == Unknown(type="0", raw=raw)
    with pytest.raises(UnknownTypeError, match="Data"):
        encode(DATA)


@pytest.mark.parametrize("fields", [{}, {"ciphertext": 7}, {"nonce": b"short"}, {"x": [1]}])
def test_type_zero_without_a_bundle_is_not_known_whatever_else_it_has(
    fields: dict[str, Any],
) -> None:
    raw = cbor2.dumps({"msgType": 0, **fields}, canonical=True)
    with pytest.raises(UnknownTypeError, match="0 is not known outside a bundle"):
        decode(raw)
    assert decode(raw, lenient=True) == Unknown(type="0", raw=raw)
    assert spans(raw)[0].name in {"msg_type", "ciphertext", "nonce", "extra.x"}


def test_an_unknown_type_is_refused_or_kept() -> None:
    raw = cbor2.dumps({"msgType": 11, "x": 1}, canonical=True)
    with pytest.raises(UnknownTypeError, match="11"):
        decode(raw)
    assert decode(raw, lenient=True) == Unknown(type="11", raw=raw)


@pytest.mark.parametrize(
    "message", [Unknown(type="11", raw=b"\xa0"), DeliveryPathHop(), bundled(DATA).header]
)
def test_encode_refuses_what_does_not_travel_by_itself(message: Any) -> None:
    with pytest.raises(UnknownTypeError):
        encode(message)


def test_a_deprecated_receipt_is_carried_on() -> None:
    raw = encode(RECEIPT)
    assert decode(raw) == RECEIPT
    assert encode(decode(raw)) == raw


def test_a_message_may_have_262144_bytes_and_no_more() -> None:
    room = 262_144 - len(put_control(msgspec.structs.replace(HOP_ACK, extra={"x": bytes(70_000)})))
    full = msgspec.structs.replace(HOP_ACK, extra={"x": bytes(70_000 + room)})
    raw = encode(full)
    assert len(raw) == 262_144
    assert decode(raw) == full
    with pytest.raises(TooLargeError):
        encode(msgspec.structs.replace(HOP_ACK, extra={"x": bytes(70_001 + room)}))


def test_a_message_that_would_grow_over_the_limit_is_refused_at_once() -> None:
    document = {key: value for key, value in flat(ACK).items() if key not in ("status", "ackType")}
    empty = len(cbor2.dumps(document | {"x": bytes(70_000)})) - 70_000
    fits, grows = (document | {"x": bytes(262_144 - empty - less)} for less in (17, 16))
    assert decode(encode(decode(cbor2.dumps(fits)))) == decode(cbor2.dumps(fits))
    assert len(cbor2.dumps(grows)) == 262_128 > SURE_SIZE
    with pytest.raises(TooLargeError, match="262145"):
        decode(cbor2.dumps(grows))


def test_no_message_grows_by_more_than_is_allowed_for() -> None:
    left_out = cbor2.dumps({k: v for k, v in flat(ACK).items() if k not in ("status", "ackType")})
    assert len(encode(decode(left_out))) - len(left_out) == 17 < MAX_GROWTH
    as_integer = cbor2.dumps(flat(METRICS) | {"gatewayScore": 1})
    assert len(encode(decode(as_integer))) - len(as_integer) == 2 < MAX_GROWTH


def test_frames_over_the_largest_bundle_are_refused_unread() -> None:
    for head in (b"\0", b"\xa1", b"\xff"):
        with pytest.raises(TooLargeError):
            decode(head * 300_000)


def test_a_kotlin_shaped_message_is_the_message_it_says() -> None:
    (vector,) = [v for v in vectors("dtn") if v["name"] == "kotlin_shaped_hop_ack"]
    message = decode(bytes.fromhex(vector["hex"]))
    assert isinstance(message, HopAck)
    assert encode(message) == cbor2.dumps(flat(message), canonical=True)


def test_payload_cbor_must_be_another_form_of_the_payload() -> None:
    loose = b"\xbf" + put_control(HOP_ACK)[1:] + b"\xff"
    good = with_payload_cbor(loose)
    assert decode(encode(good)) == good
    for wrong in (put_control(HOP_ACK), put_control(SUB_MSG), b"\xbf\xff"):
        with pytest.raises(MalformedError):
            encode(with_payload_cbor(wrong))


def test_encode_refuses_a_bundle_with_another_hash() -> None:
    with pytest.raises(MalformedError, match="payloadHash"):
        encode(msgspec.structs.replace(bundled(HOP_ACK), payload=SUB_MSG))


def with_payload_cbor(raw: bytes) -> Bundle:
    bundle = bundled(HOP_ACK)
    header = msgspec.structs.replace(bundle.header, payload_hash=sha256(raw).digest())
    return msgspec.structs.replace(bundle, header=header, payload_cbor=raw)


@pytest.mark.parametrize(
    "changes",
    [
        {"extra": {"a": "\ud800"}},
        {"extra": {"a": float("nan")}},
        {"extra": {"a": 2**70}},
        {"extra": {"a": {1: 2}}},
        {"extra": {"timestamp": 1}},
        {"timestamp": 2**70},
        {"from_node": bytes(33)},
    ],
)
def test_encode_refuses_what_decode_would_refuse(changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        encode(msgspec.structs.replace(HOP_ACK, **changes))


@pytest.mark.parametrize("name", ["HopAck", "DeliveryAck with all it can have", "ConfigUpdate"])
def test_spans_of_a_message_are_named_as_its_fields(name: str) -> None:
    message = SAMPLES[name]
    raw = encode(message)
    found = {span.name: raw[span.offset : span.offset + span.size] for span in spans(raw)}
    fields = to_plain(message)
    top = {shown.partition(".")[0] for shown in found}
    assert top == {key for key, value in fields.items() if value not in (None, {})}
    assert isinstance(message, ControlMessage)
    assert cbor2.loads(found["msg_type"]) == message.msg_type
    if isinstance(message, DeliveryAck):
        assert cbor2.loads(found["ack_h3r5"]) == FULL_ACK.ack_h3r5
        assert cbor2.loads(found["extra.note"]) == "kept"


def test_spans_of_a_bundle_cover_lengths_signature_header_and_payload() -> None:
    bundle = bundled(HOP_ACK)
    raw = encode(bundle)
    found = {span.name: raw[span.offset : span.offset + span.size] for span in spans(raw)}
    assert list(found)[:3] == ["header_length", "payload_length", "signature"]
    assert found["signature"] == bundle.signature
    assert cbor2.loads(found["header.src_pub"]) == bundle.header.src_pub
    assert cbor2.loads(found["header.route_path"]) == []
    assert cbor2.loads(found["payload.bundle_id"]) == HOP_ACK.bundle_id
    assert found["payload.msg_type"] == b"\2"


def test_spans_stop_where_the_frame_does() -> None:
    raw = encode(bundled(HOP_ACK))
    assert spans(b"") == []
    assert spans(b"\xff") == []
    assert [span.name for span in spans(raw[:40])] == ["header_length", "payload_length"]
    assert [span.name for span in spans(raw[:120])][-1] == "header.src_pub"
    cut = encode(ACK)[:170]
    assert [span.name for span in spans(cut)][:1] == ["sig"]
    assert "msg_id" in [span.name for span in spans(cut)]
    assert "msg_type" not in [span.name for span in spans(cut)]
    assert [span.name for span in spans(b"\xa1\x61x\x01")] == ["extra.x"]
