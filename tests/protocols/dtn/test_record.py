"""The common record and plain fields of DTN."""

import json
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from protocols.dtn.samples import (
    ANNOUNCE,
    CANCEL,
    CONFIG,
    DATA,
    FULL_ACK,
    HOP_ACK,
    INVITE,
    KEY,
    METRICS,
    NOW,
    ONES,
    PAYMENT,
    RECEIPT,
    SAMPLES,
    SUB_MSG,
    THREES,
    TWOS,
    UID,
    bundled,
    receipt_bundle,
)
from wireloom.protocols.dtn.bundles import Envelope, put_envelope
from wireloom.protocols.dtn.codec import decode, encode
from wireloom.protocols.dtn.constants import Destination
from wireloom.protocols.dtn.control import put_control
from wireloom.protocols.dtn.integrity import bundle_id
from wireloom.protocols.dtn.messages import ControlMessage
from wireloom.protocols.dtn.record import from_fields, summarise
from wireloom.wire.errors import MalformedError, UnknownTypeError
from wireloom.wire.keys import uid
from wireloom.wire.message import Cast, Summary, Unknown
from wireloom.wire.plain import to_plain


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            SUB_MSG,
            {
                "destination": ONES.hex(),
                "created_ms": NOW,
                "priority_rank": 2,
                "cast": Cast.TOPIC,
            },
        ),
        (
            HOP_ACK,
            {
                "source": UID.hex(),
                "created_ms": NOW,
                "priority_rank": 0,
                "reply_to": ONES.hex(),
            },
        ),
        (RECEIPT, {"priority_rank": 0}),
        (METRICS, {"priority_rank": 4}),
        (
            PAYMENT,
            {
                "source": UID.hex(),
                "destination": uid(TWOS).hex(),
                "priority_rank": 2,
                "cast": Cast.UNICAST,
            },
        ),
        (INVITE, {"priority_rank": 2}),
        (
            FULL_ACK,
            {
                "source": UID.hex(),
                "destination": THREES.hex(),
                "created_ms": NOW,
                "priority_rank": 0,
                "cast": Cast.UNICAST,
                "hops": 4,
                "reply_to": ONES.hex(),
            },
        ),
        (CANCEL, {"source": UID.hex(), "priority_rank": 0, "reply_to": ONES.hex()}),
        (ANNOUNCE, {"source": UID.hex(), "created_ms": NOW, "priority_rank": 2}),
        (CONFIG, {"source": UID.hex(), "created_ms": NOW, "priority_rank": 0}),
    ],
)
def test_a_message_by_itself_tells_what_it_names(
    message: ControlMessage, told: dict[str, Any]
) -> None:
    assert summarise(message, encode(message)) == Summary(type=type(message).__name__, **told)


def test_a_creator_is_told_in_lower_case() -> None:
    shouted = msgspec.structs.replace(ANNOUNCE, creator_uid_hex=UID.hex().upper())
    assert summarise(shouted, b"").source == UID.hex()


def test_a_bundle_is_named_after_what_it_carries() -> None:
    bundle = bundled(HOP_ACK)
    assert summarise(bundle, encode(bundle)) == Summary(
        type="HopAck",
        id=bundle_id(bundle.header, bundle.payload_bytes()).hex(),
        source=UID.hex(),
        destination=TWOS.hex(),
        created_ms=NOW,
        expires_ms=NOW + 86_400_000,
        priority_rank=0,
        cast=Cast.UNICAST,
        hops=0,
        reply_to=ONES.hex(),
        payload_size=115,
    )


@pytest.mark.parametrize(
    ("kind", "cast"),
    [
        (Destination.USER, Cast.UNICAST),
        (Destination.NODE, Cast.UNICAST),
        (Destination.TOPIC, Cast.TOPIC),
        (Destination.CLUSTER, Cast.CLUSTER),
    ],
)
def test_the_kind_of_destination_tells_how_many_a_bundle_is_for(
    kind: Destination, cast: Cast
) -> None:
    bundle = bundled(DATA, kind)
    assert summarise(bundle, encode(bundle)).cast is cast


@pytest.mark.parametrize(("path", "hops"), [(None, None), ((), 0), ((ONES, TWOS), 2)])
def test_the_nodes_that_a_bundle_passed_are_its_hops(
    path: tuple[bytes, ...] | None, hops: int | None
) -> None:
    bundle = bundled(FULL_ACK)
    header = msgspec.structs.replace(bundle.header, route_path=path)
    bundle = msgspec.structs.replace(bundle, header=header)
    assert summarise(bundle, encode(bundle)).hops == hops


def test_a_payload_counts_as_it_came() -> None:
    written = put_control(HOP_ACK)
    payload = b"\xb9\x00\x04" + written[1:]
    header = msgspec.structs.replace(bundled(HOP_ACK).header, payload_hash=sha256(payload).digest())
    raw = put_envelope(Envelope(bytes(64), header, payload))
    summary = summarise(decode(raw), raw)
    assert summary.payload_size == len(written) + 2
    assert summary.id == bundle_id(header, payload).hex()


def test_a_bundle_of_an_unknown_type_has_all_that_its_header_says() -> None:
    payload = b"\xa1\x67msgType\x0d"
    header = msgspec.structs.replace(bundled(DATA).header, payload_hash=sha256(payload).digest())
    raw = put_envelope(Envelope(bytes(64), header, payload))
    summary = summarise(decode(raw, lenient=True), raw)
    assert (summary.type, summary.source) == ("13", UID.hex())
    assert summary.id == bundle_id(header, payload).hex()
    assert summarise(Unknown(type="13", raw=payload), payload) == Summary(type="13")


def test_what_is_no_message_has_no_summary() -> None:
    with pytest.raises(UnknownTypeError):
        summarise(bundled(DATA).header, b"")


@pytest.mark.parametrize(
    "name", [name for name in SAMPLES if not name.startswith("DeliveryReceipt")]
)
def test_fields_make_the_message_they_were_shown_for(name: str) -> None:
    message = SAMPLES[name]
    raw = encode(message)
    fields = json.loads(json.dumps(to_plain(message)))
    assert from_fields(summarise(message, raw).type, fields) == message


def test_fields_show_enums_by_name_and_bytes_in_hex() -> None:
    fields = to_plain(SUB_MSG)
    assert (fields["msg_type"], fields["action"]) == ("SUB_MSG", "SUBSCRIBE")
    assert fields["topic_id"] == "11" * 32
    carried = to_plain(bundled(HOP_ACK))
    assert carried["payload"]["from_node"] == KEY.public.hex()
    assert carried["payload_length"] == 115


def test_a_deprecated_receipt_is_shown_and_not_made() -> None:
    assert to_plain(RECEIPT)["extra"] == {"bundleId": {"$hex": "11" * 32}, "ok": True}
    with pytest.raises(UnknownTypeError, match="deprecated"):
        from_fields("DeliveryReceipt", to_plain(RECEIPT))
    with pytest.raises(UnknownTypeError, match="deprecated"):
        from_fields("DeliveryReceipt", to_plain(receipt_bundle()))


def test_fields_of_an_unknown_type_are_refused() -> None:
    with pytest.raises(UnknownTypeError, match="'Ping'"):
        from_fields("Ping", {})


@pytest.mark.parametrize(
    ("type_", "fields", "words"),
    [
        ("HopAck", {}, "bundle_id is missing"),
        ("HopAck", [], "must be an object"),
        ("HopAck", to_plain(HOP_ACK) | {"msg_type": "PAYMENT"}, "msg_type contradicts"),
        ("HopAck", to_plain(bundled(HOP_ACK)) | {"payload": None}, "payload"),
        ("HopAck", to_plain(bundled(HOP_ACK)) | {"payload": {}}, "payload.bundle_id is missing"),
        ("HopAck", to_plain(bundled(HOP_ACK)) | {"payload_length": 1}, "payload_length contra"),
        ("SubMsg", to_plain(bundled(HOP_ACK)), "payload.topic_id is missing"),
    ],
)
def test_fields_that_do_not_make_one_are_refused(type_: str, fields: object, words: str) -> None:
    with pytest.raises(MalformedError, match=words):
        from_fields(type_, fields)


def test_data_by_itself_is_built_and_does_not_travel() -> None:
    message = from_fields("Data", to_plain(DATA))
    assert message == DATA
    with pytest.raises(UnknownTypeError):
        encode(message)
