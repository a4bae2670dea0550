"""DTN frames as Arrow columns."""

import json
from decimal import Decimal
from hashlib import sha256
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from protocols.dtn.samples import (
    CONFIG,
    DATA,
    FULL_ACK,
    HOP_ACK,
    KEY,
    METRICS,
    NOW,
    ONES,
    PAYMENT,
    SAMPLES,
    TWOS,
    bundled,
    receipt_bundle,
)
from support.batches import expected, mixed
from support.cases import case
from wireloom.protocols.dtn import bundles
from wireloom.protocols.dtn.bundles import Envelope, put_envelope
from wireloom.protocols.dtn.codec import encode
from wireloom.protocols.dtn.columns import COLUMN, decode
from wireloom.protocols.dtn.constants import MAX_BUNDLE_SIZE, MsgType
from wireloom.protocols.dtn.messages import ALL_TYPES
from wireloom.protocols.dtn.parts import BundleHeader
from wireloom.wire.message import Message


def row(message: Message) -> dict[str, Any]:
    (shown,) = decode(pa.array([encode(message)], pa.binary())).to_pylist()
    assert isinstance(shown, dict)
    return shown


def test_a_batch_is_what_the_codec_gives_one_by_one() -> None:
    raws = mixed(case("dtn"))
    batch = decode(pa.array(raws, pa.binary()))
    batch.validate(full=True)
    assert batch.equals(expected(case("dtn"), COLUMN, raws))
    assert batch.schema.equals(COLUMN.schema)
    assert {"malformed", None} <= set(batch["reason"].to_pylist())


def test_no_frames_give_no_rows() -> None:
    assert decode(pa.array([], pa.binary())).equals(expected(case("dtn"), COLUMN, []))


def test_a_bundle_shows_header_and_payload() -> None:
    bundle = bundled(HOP_ACK)
    shown = row(bundle)["dtn"]
    assert shown["signature"] == bundle.signature.hex()
    assert shown["header"]["src_pub"] == KEY.public.hex()
    assert shown["header"]["dst_user"] == TWOS.hex()
    assert shown["header"]["priority"] == "CRITICAL"
    assert shown["header"]["route_path"] == []
    assert shown["payload"]["msg_type"] == "HOP_ACK"
    assert shown["payload"]["bundle_id"] == ONES.hex()
    assert shown["payload_cbor"] is None


def test_a_message_by_itself_has_a_payload_only() -> None:
    shown = row(HOP_ACK)
    assert shown["dtn"]["payload"] == row(bundled(HOP_ACK))["dtn"]["payload"]
    assert [shown["dtn"][name] for name in ("signature", "header", "payload_cbor")] == [None] * 3
    assert (shown["type"], shown["reply_to"]) == ("HopAck", ONES.hex())


def test_the_payload_has_the_fields_of_every_message() -> None:
    payload = COLUMN.type.field("payload").type
    names = {field.name for field in payload}
    for cls in ALL_TYPES.values():
        assert set(cls.__struct_fields__) <= names
    header = {field.name for field in COLUMN.type.field("header").type}
    assert header == set(BundleHeader.__struct_fields__)


def test_numbers_lists_and_maps_have_types_that_fit() -> None:
    payment = row(PAYMENT)["dtn"]["payload"]
    assert payment["amount"] == Decimal(2**64 - 1)
    assert payment["nonce"] == "7"
    assert row(bundled(DATA))["dtn"]["payload"]["nonce"] == f'"{DATA.nonce.hex()}"'  # type: ignore[union-attr]
    assert row(METRICS)["dtn"]["payload"]["gateway_score"] == 0.75
    flags = row(CONFIG)["dtn"]["payload"]["flags"]
    assert json.loads(flags) == {"spray.max": "8", "log": "on"}


def test_the_path_of_an_acknowledgement_is_a_list_of_hops() -> None:
    first, second = row(FULL_ACK)["dtn"]["payload"]["path"]
    assert first == {"node": TWOS.hex(), "transport": "lora", "at_ms": NOW - 1, "extra": "{}"}
    assert json.loads(second["extra"]) == {"rssi": -71, "raw": {"$hex": "01"}}


def test_a_payload_that_is_not_deterministic_is_kept() -> None:
    bundle = receipt_bundle()
    raw = encode(bundle)
    loose = b"\xb9\x00\x01" + bundle.payload_bytes()[1:]
    header = msgspec.structs.replace(bundle.header, payload_hash=sha256(loose).digest())
    odd = encode(msgspec.structs.replace(bundle, header=header, payload_cbor=loose))
    batch = decode(pa.array([raw, odd], pa.binary()))
    assert [one["payload_cbor"] for one in batch["dtn"].to_pylist()] == [None, loose.hex()]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_alone_in_its_batch_is_shown_right(name: str) -> None:
    raw = encode(SAMPLES[name])
    assert decode(pa.array([raw], pa.binary())).equals(expected(case("dtn"), COLUMN, [raw]))


def test_a_payload_that_many_bundles_carry_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = bundled(DATA)
    header = msgspec.structs.replace(first.header, route_path=(ONES,), attempts=1)
    raws = [encode(first), encode(msgspec.structs.replace(first, header=header))]
    read: list[bytes] = []

    def recording(payload_cbor: bytes, *, lenient: bool) -> bundles.Payload:
        read.append(payload_cbor)
        return bundles.take_payload(payload_cbor, lenient=lenient)

    monkeypatch.setattr("wireloom.protocols.dtn.columns.take_payload", recording)
    batch = decode(pa.array(raws, pa.binary()))
    assert read == [first.payload_bytes()]
    assert batch["hops"].to_pylist() == [0, 1]
    assert len(set(batch["message_id"].to_pylist())) == 1


def test_a_bundle_with_a_payload_of_another_type_is_refused_among_good_ones() -> None:
    good = bundled(DATA)
    header = msgspec.structs.replace(good.header, msg_type=int(MsgType.HOP_ACK))
    bad = put_envelope(Envelope(good.signature, header, good.payload_bytes()))
    raws = [encode(good), bad, bytes(MAX_BUNDLE_SIZE + 1), b""]
    batch = decode(pa.array(raws, pa.binary()))
    assert batch.equals(expected(case("dtn"), COLUMN, raws))
    assert batch["reason"].to_pylist() == [None, "malformed", "too_large", "malformed"]
