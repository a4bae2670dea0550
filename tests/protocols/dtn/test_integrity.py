"""Signatures, ids, composing."""

from hashlib import sha256
from typing import Any

import msgspec
import pytest

from protocols.dtn.samples import (
    ACK,
    ANNOUNCE,
    CANCEL,
    CONFIG,
    DATA,
    HOP_ACK,
    INVITE,
    KEY,
    METRICS,
    NO_SIG,
    NOW,
    ONES,
    OTHER_KEY,
    PAYMENT,
    RECEIPT,
    SUB_MSG,
    TWOS,
    UID,
    UPDATE,
    bundled,
    receipt_bundle,
    signed,
)
from support.cases import vectors
from wireloom.protocols.dtn.bundles import Envelope, put_envelope
from wireloom.protocols.dtn.codec import decode, encode
from wireloom.protocols.dtn.constants import Destination, Priority
from wireloom.protocols.dtn.integrity import (
    authenticate,
    authenticate_inner,
    bundle_id,
    compose,
    expires_ms,
    sign,
    signed_bytes,
    signed_header,
    signer_key,
    signer_uid,
)
from wireloom.protocols.dtn.messages import ControlMessage
from wireloom.wire import keys
from wireloom.wire.errors import MalformedError, UnknownKeyError, UnknownTypeError
from wireloom.wire.message import Unknown
from wireloom.wire.outcome import Auth

BY_NAME = {vector["name"]: vector for vector in vectors("dtn")}
BY_UID = [ACK, CANCEL, ANNOUNCE]
BY_KEY = [PAYMENT, CONFIG]


def of_kind(check: str) -> list[Any]:
    return [pytest.param(v, id=v["name"]) for v in vectors("dtn") if v.get("check") == check]


def auth(message: ControlMessage, *known: bytes) -> Auth:
    return authenticate(message, encode(message), known)


@pytest.mark.parametrize("vector", of_kind("ed25519"))
def test_signatures_are_those_of_rfc_8032(vector: dict[str, Any]) -> None:
    expect = vector["expect"]
    key = keys.SigningKey(bytes.fromhex(expect["seed"]))
    data, signature = bytes.fromhex(expect["data"]), bytes.fromhex(vector["hex"])
    assert key.public.hex() == expect["public_key"]
    assert key.sign(data) == signature
    assert keys.verify(key.public, data, signature)
    assert not keys.verify(key.public, data + b"\0", signature)


@pytest.mark.parametrize("vector", of_kind("signed_bytes"))
def test_a_signature_covers_the_map_without_it(vector: dict[str, Any]) -> None:
    message = decode(bytes.fromhex(BY_NAME[vector["expect"]["of"]]["hex"]))
    assert isinstance(message, ControlMessage)
    assert signed_bytes(message).hex() == vector["hex"]


@pytest.mark.parametrize("message", BY_UID + BY_KEY, ids=lambda m: type(m).__name__)
def test_signing_gives_what_verifies_until_a_field_changes(message: ControlMessage) -> None:
    done = signed(message)
    assert auth(done, KEY.public) is Auth.VALID
    changed = msgspec.structs.replace(done, extra={"new": 1})
    assert auth(changed, KEY.public) is Auth.INVALID
    assert auth(message, KEY.public) is Auth.UNSIGNED


@pytest.mark.parametrize("message", BY_UID, ids=lambda m: type(m).__name__)
def test_a_signer_known_by_uid_needs_a_known_key(message: ControlMessage) -> None:
    done = signed(message)
    assert auth(done) is Auth.UNKNOWN_KEY
    assert auth(done, OTHER_KEY.public) is Auth.UNKNOWN_KEY
    assert auth(done, OTHER_KEY.public, KEY.public) is Auth.VALID
    assert signer_key(done, [KEY.public]) == KEY.public
    assert signer_uid(done) == UID


@pytest.mark.parametrize("message", BY_KEY, ids=lambda m: type(m).__name__)
def test_a_signer_with_his_key_inside_needs_none(message: ControlMessage) -> None:
    assert auth(signed(message)) is Auth.VALID
    assert signer_uid(message) == UID


@pytest.mark.parametrize(
    "message", [HOP_ACK, SUB_MSG, METRICS, INVITE, UPDATE, RECEIPT], ids=lambda m: type(m).__name__
)
def test_other_messages_by_themselves_are_unsigned(message: ControlMessage) -> None:
    assert auth(message, KEY.public) is Auth.UNSIGNED
    assert signer_uid(message) is None
    with pytest.raises(UnknownTypeError, match="no signature"):
        sign(message, KEY)


def test_an_upper_case_uid_is_the_same_signer() -> None:
    shouted = msgspec.structs.replace(ANNOUNCE, creator_uid_hex=UID.hex().upper())
    assert auth(signed(shouted), KEY.public) is Auth.VALID


def test_sign_refuses_a_key_that_the_message_does_not_name() -> None:
    for message in BY_UID + BY_KEY:
        with pytest.raises(UnknownKeyError, match="another signer"):
            sign(message, OTHER_KEY)
    with pytest.raises(UnknownKeyError, match="another sender"):
        sign(bundled(DATA), OTHER_KEY)


def test_defaults_that_were_left_out_are_signed_as_written() -> None:
    assert b"status\x01" in signed_bytes(ACK)
    assert b"ackType\x01" in signed_bytes(ACK)
    assert b"hopCount" not in signed_bytes(ACK)


def test_a_bundle_is_valid_until_what_is_signed_changes() -> None:
    bundle = bundled(HOP_ACK)
    assert authenticate(bundle, encode(bundle), ()) is Auth.VALID
    later = msgspec.structs.replace(
        bundle, header=msgspec.structs.replace(bundle.header, created_at=NOW + 1)
    )
    assert authenticate(later, encode(later), ()) is Auth.INVALID
    unsigned = msgspec.structs.replace(bundle, signature=NO_SIG)
    assert authenticate(unsigned, encode(unsigned), ()) is Auth.UNSIGNED


def test_a_relay_breaks_neither_id_nor_signature() -> None:
    bundle = bundled(DATA)
    header = msgspec.structs.replace(
        bundle.header, copy_budget=1, attempts=4, route_path=(OTHER_KEY.public,)
    )
    relayed = msgspec.structs.replace(bundle, header=header)
    assert authenticate(relayed, encode(relayed), ()) is Auth.VALID
    assert bundle_id(header, relayed.payload_bytes()) == bundle_id(
        bundle.header, bundle.payload_bytes()
    )
    assert bundle_id(header, b"other") != bundle_id(header, relayed.payload_bytes())


def test_a_payload_in_another_form_is_signed_as_it_came() -> None:
    loose = b"\xbf\x67msgType\x02\x68bundleId\x58\x20" + ONES
    loose += b"\x68fromNode\x58\x20" + KEY.public + b"\x69timestamp\x00\xff"
    bundle = bundled(HOP_ACK)
    bundle = msgspec.structs.replace(
        bundle,
        header=msgspec.structs.replace(bundle.header, payload_hash=sha256(loose).digest()),
        payload=msgspec.structs.replace(HOP_ACK, timestamp=0),
        payload_cbor=loose,
    )
    done = sign(bundle, KEY)
    raw = encode(done)
    assert decode(raw) == done
    assert authenticate(done, raw, ()) is Auth.VALID


def test_a_bundle_of_an_unknown_type_is_still_verified() -> None:
    payload = b"\xa1\x67msgType\x0d"
    header = msgspec.structs.replace(bundled(DATA).header, payload_hash=sha256(payload).digest())
    raw = put_envelope(Envelope(KEY.sign(signed_header(header)), header, payload))
    unknown = decode(raw, lenient=True)
    assert isinstance(unknown, Unknown)
    assert authenticate(unknown, raw, ()) is Auth.VALID
    assert authenticate(Unknown(type="13", raw=payload), payload, ()) is Auth.UNSIGNED


@pytest.mark.parametrize(
    ("payload", "priority", "budget", "ttl"),
    [
        (DATA, Priority.NORMAL, 3, 604_800),
        (HOP_ACK, Priority.CRITICAL, 8, 86_400),
        (METRICS, Priority.BULK, 2, 86_400),
    ],
)
def test_compose_knows_what_a_payload_calls_for(
    payload: ControlMessage, priority: Priority, budget: int, ttl: int
) -> None:
    bundle = compose(payload, KEY, (Destination.TOPIC, TWOS), created_at=NOW)
    header = bundle.header
    assert (header.priority, header.copy_budget, header.ttl_sec) == (priority, budget, ttl)
    assert (header.attempts, header.route_path, header.dst_topic) == (0, (), TWOS)
    assert decode(encode(bundle)) == bundle
    assert authenticate(bundle, encode(bundle), ()) is Auth.VALID


def test_compose_takes_a_lifetime() -> None:
    bundle = compose(DATA, KEY, (Destination.USER, TWOS), created_at=NOW, ttl_sec=5)
    assert expires_ms(bundle.header) == NOW + 5000


def test_the_end_of_a_lifetime_saturates() -> None:
    header = msgspec.structs.replace(bundled(DATA).header, created_at=2**63 - 1)
    assert expires_ms(header) == 2**63 - 1


def test_a_deprecated_receipt_is_not_composed() -> None:
    with pytest.raises(UnknownTypeError, match="not composed"):
        compose(RECEIPT, KEY, (Destination.USER, TWOS), created_at=NOW)
    with pytest.raises(UnknownTypeError, match="not composed"):
        sign(receipt_bundle(), KEY)


def test_a_bundle_is_signed_with_the_hash_of_its_payload() -> None:
    bundle = msgspec.structs.replace(bundled(DATA), payload=HOP_ACK)
    with pytest.raises(MalformedError, match="payloadHash"):
        encode(bundle)
    done = sign(bundle, KEY)
    assert authenticate(done, encode(done), ()) is Auth.VALID


def test_a_bundle_is_signed_with_its_payload_where_both_name_the_key() -> None:
    ours = sign(bundled(ACK), KEY)
    assert ours == bundled(signed(ACK))
    others = bundled(msgspec.structs.replace(ACK, from_uid=ONES))
    assert sign(others, KEY) == others


def test_what_is_no_message_is_unsigned() -> None:
    assert authenticate(bundled(DATA).header, b"", ()) is Auth.UNSIGNED


@pytest.mark.parametrize(
    ("payload", "auth"),
    [
        (signed(ACK), Auth.VALID),
        (ACK, Auth.UNSIGNED),
        (msgspec.structs.replace(signed(ACK), hop_count=9), Auth.INVALID),
        (msgspec.structs.replace(signed(ACK), from_uid=ONES), Auth.UNKNOWN_KEY),
        (HOP_ACK, None),
    ],
)
def test_a_payload_s_own_signature_is_told_beside_the_bundle_s(
    payload: ControlMessage, auth: Auth | None
) -> None:
    bundle = bundled(payload)
    assert authenticate(bundle, encode(bundle), ()) is Auth.VALID
    assert authenticate_inner(bundle, ()) is auth
    assert authenticate_inner(payload, ()) is None


def test_a_payload_s_signer_may_be_another_than_the_bundle_s() -> None:
    payload = msgspec.structs.replace(ACK, from_uid=keys.uid(OTHER_KEY.public))
    bundle = bundled(sign(payload, OTHER_KEY))  # type: ignore[arg-type]
    assert authenticate_inner(bundle, ()) is Auth.UNKNOWN_KEY
    assert authenticate_inner(bundle, [OTHER_KEY.public]) is Auth.VALID
