"""Bundles: framing, headers, destinations, hashes, payloads in another form."""

from hashlib import sha256
from typing import Any

import cbor2
import msgspec
import pytest

from protocols.dtn.samples import DATA, HOP_ACK, KEY, NO_SIG, NOW, ONES, TWOS, bundled
from wireloom.protocols.dtn.bundles import (
    Envelope,
    immutable_header,
    is_bundle,
    is_map,
    put_bundle,
    put_envelope,
    take_bundle,
    take_envelope,
    take_header,
)
from wireloom.protocols.dtn.codec import decode
from wireloom.protocols.dtn.constants import Priority
from wireloom.protocols.dtn.maps import flat, put_map
from wireloom.protocols.dtn.messages import Bundle, HopAck
from wireloom.wire.errors import (
    MalformedError,
    TooLargeError,
    TrailingBytesError,
    TruncatedError,
    UnknownTypeError,
)
from wireloom.wire.message import Unknown

HOP = flat(HOP_ACK)


def framed(payload: bytes, header: dict[str, Any] | None = None, **changes: Any) -> bytes:
    """A bundle around `payload`; its header may be of any form."""
    fields = {
        "srcPub": KEY.public,
        "createdAt": NOW,
        "payloadHash": sha256(payload).digest(),
        "ttlSec": 60,
        "priority": 1,
        "dstNode": ONES,
    }
    kept = {key: value for key, value in (fields | changes).items() if value is not None}
    return around(cbor2.dumps(kept if header is None else header), payload)


def around(header: bytes, payload: bytes) -> bytes:
    lengths = len(header).to_bytes(4, "little") + len(payload).to_bytes(4, "little")
    return lengths + NO_SIG + header + payload


def taken(raw: bytes) -> Bundle:
    bundle = take_bundle(raw)
    assert isinstance(bundle, Bundle)
    return bundle


def test_a_bundle_lies_as_the_layout_says() -> None:
    bundle = bundled(DATA)
    header, payload = put_map(bundle.header), put_map(DATA)
    raw = put_bundle(bundle)
    assert raw[:4] == len(header).to_bytes(4, "little")
    assert raw[4:8] == len(payload).to_bytes(4, "little")
    assert raw[8:72] == bundle.signature
    assert raw[72:] == header + payload
    assert taken(raw) == bundle


def test_what_hops_may_change_can_be_absent_and_stays_so() -> None:
    bundle = taken(framed(cbor2.dumps(HOP, canonical=True)))
    header = bundle.header
    assert (header.copy_budget, header.attempts, header.route_path) == (None, None, None)
    assert b"copyBudget" not in put_bundle(bundle)
    assert header.priority is Priority.NORMAL


def test_a_header_of_another_form_is_written_deterministically() -> None:
    raw = framed(cbor2.dumps(HOP, canonical=True))
    header = b"\xbf" + raw[73 : 72 + int.from_bytes(raw[:4], "little")] + b"\xff"
    loose = around(header, cbor2.dumps(HOP, canonical=True))
    assert taken(loose) == taken(raw)
    assert put_bundle(taken(loose)) == put_bundle(taken(raw)) != loose


def test_a_payload_of_another_form_is_kept_as_it_came() -> None:
    loose = b"\xbf" + cbor2.dumps(HOP)[1:] + b"\xff"
    bundle = taken(framed(loose))
    assert bundle.payload == HOP_ACK
    assert bundle.payload_cbor == loose == bundle.payload_bytes()
    assert taken(put_bundle(bundle)) == bundle
    assert taken(framed(cbor2.dumps(HOP, canonical=True))).payload_cbor is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dstNode": None}, "0 destinations"),
        ({"dstUser": ONES}, "2 destinations"),
        ({"dstUser": ONES, "dstTopic": ONES, "dstCluster": ONES}, "4 destinations"),
        ({"payloadHash": ONES}, "payloadHash"),
        ({"srcPub": bytes(31)}, "srcPub"),
        ({"dstNode": bytes(33)}, "dstNode"),
        ({"priority": 3}, "priority"),
        ({"copyBudget": 16}, "copyBudget"),
        ({"routePath": [ONES] * 9}, "routePath"),
        ({"routePath": [bytes(31)]}, "routePath"),
        ({"ttlSec": 2**32}, "ttlSec"),
        ({"attempts": -1}, "attempts"),
        ({"geoH3r5": -1}, "geoH3r5"),
        ({"createdAt": None}, "createdAt"),
        ({"msgType": 3}, "msgType is 3 in the header, 2 in the payload"),
    ],
)
def test_a_header_that_breaks_a_rule_is_refused(changes: dict[str, Any], words: str) -> None:
    raw = framed(cbor2.dumps(HOP, canonical=True), **changes)
    with pytest.raises(MalformedError, match=words) as caught:
        take_bundle(raw)
    assert caught.value.offset is not None
    assert 72 <= caught.value.offset <= len(raw)


@pytest.mark.parametrize(
    "changes",
    [
        {"copyBudget": 15, "attempts": 2**32 - 1, "routePath": [TWOS] * 8},
        {"copyBudget": 0, "routePath": []},
        {"geoH3r5": 2**64 - 1, "geoH3r7": 0},
        {"msgType": 2},
        {"ttlSec": 0},
        {"status": "FWD"},
    ],
)
def test_a_header_at_the_edge_is_accepted(changes: dict[str, Any]) -> None:
    bundle = taken(framed(cbor2.dumps(HOP, canonical=True), **changes))
    assert taken(put_bundle(bundle)) == bundle


def test_unknown_keys_of_a_header_are_kept() -> None:
    assert taken(framed(cbor2.dumps(HOP), status="FWD")).header.extra == {"status": "FWD"}


def test_lengths_that_do_not_add_up_are_refused() -> None:
    raw = framed(cbor2.dumps(HOP))
    with pytest.raises(TruncatedError, match=f"of {len(raw)} bytes, the frame has"):
        take_bundle(raw[:-1])
    with pytest.raises(TrailingBytesError) as caught:
        take_bundle(raw + b"\0")
    assert caught.value.offset == len(raw)


def test_a_header_has_at_most_4096_bytes() -> None:
    payload = cbor2.dumps(HOP)
    room = 4096 - int.from_bytes(framed(payload, pad=bytes(256))[:4], "little") + 256
    assert taken(framed(payload, pad=bytes(room)))
    with pytest.raises(TooLargeError, match="4097"):
        take_bundle(framed(payload, pad=bytes(room + 1)))


def test_a_payload_has_at_most_262144_bytes() -> None:
    full = bundled(msgspec.structs.replace(DATA, ciphertext=bytes(262_144 - 45)))
    assert full.payload_length == 262_144
    assert taken(put_bundle(full)) == full
    with pytest.raises(TooLargeError, match="262145"):
        put_bundle(bundled(msgspec.structs.replace(DATA, ciphertext=bytes(262_144 - 44))))


def test_a_refusal_within_the_payload_says_where_in_the_frame() -> None:
    payload = cbor2.dumps(HOP | {"bundleId": bytes(31)}, canonical=True)
    raw = framed(payload)
    with pytest.raises(MalformedError, match="bundleId") as caught:
        take_bundle(raw)
    assert caught.value.offset == raw.rindex(b"bundleId") + len("bundleId")


def test_an_unknown_payload_is_refused_or_kept() -> None:
    raw = framed(b"\xa1\x67msgType\x0d")
    with pytest.raises(UnknownTypeError, match="13"):
        take_bundle(raw)
    assert take_bundle(raw, lenient=True) == Unknown(type="13", raw=raw)


def test_a_relay_changes_an_envelope_without_reading_its_payload() -> None:
    raw = framed(b"\xa1\x67msgType\x0d", copyBudget=3)
    envelope = take_envelope(raw)
    header = msgspec.structs.replace(envelope.header, copy_budget=1, route_path=(TWOS,))
    sent = take_envelope(put_envelope(envelope._replace(header=header)))
    assert sent == Envelope(NO_SIG, header, b"\xa1\x67msgType\x0d")
    assert immutable_header(sent.header) == immutable_header(envelope.header)


def test_id_and_signature_leave_out_three_keys_only() -> None:
    header = taken(framed(cbor2.dumps(HOP), copyBudget=1, attempts=2, routePath=[], x=1)).header
    left = set(cbor2.loads(put_map(header))) - set(cbor2.loads(immutable_header(header)))
    assert left == {"copyBudget", "attempts", "routePath"}


def test_a_header_by_itself_needs_one_destination() -> None:
    with pytest.raises(MalformedError, match="0 destinations"):
        take_header(put_map(msgspec.structs.replace(bundled(DATA).header, dst_user=None)))


def test_bundles_are_told_from_maps_by_their_bytes() -> None:
    raw = put_bundle(bundled(HOP_ACK))
    assert is_bundle(raw)
    assert is_bundle(raw[:20])
    assert not is_map(raw)
    assert not is_bundle(cbor2.dumps(HOP))
    assert not is_bundle(raw[:7])


def test_a_header_length_that_looks_like_a_map_is_told_by_the_sum() -> None:
    payload = cbor2.dumps(HOP, canonical=True)
    short = int.from_bytes(framed(payload, pad=b"")[:4], "little")
    raw = framed(payload, pad="x" * (0x1A5 - short - 1))
    assert raw[0] == 0xA5
    assert is_map(raw)
    assert is_bundle(raw)
    assert isinstance(taken(raw).payload, HopAck)
    assert not is_bundle(raw + b"\0")


def test_a_map_that_could_be_lengths_is_told_by_its_key() -> None:
    document = {"\0": 0, "": b"\1\0", "pad": b"", **HOP}
    size = len(cbor2.dumps(document | {"pad": bytes(70_000)})) - 70_000
    raw = cbor2.dumps(document)
    framed_size = 72 + int.from_bytes(raw[:4], "little") + int.from_bytes(raw[4:8], "little")
    raw = cbor2.dumps(document | {"pad": bytes(framed_size - size)})
    assert (raw[2:4], len(raw)) == (b"\0\0", framed_size)
    assert not is_bundle(raw)
    assert isinstance(decode(raw), HopAck)


def test_a_signature_has_64_bytes() -> None:
    with pytest.raises(MalformedError, match="64 bytes, not 63"):
        put_bundle(msgspec.structs.replace(bundled(DATA), signature=bytes(63)))
