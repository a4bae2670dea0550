from hmac import digest
from typing import Any

import pytest
from msgspec.structs import replace

from protocols.myriadmesh.samples import DATA, KEY, LONG, NOW_MS, PEER, SOURCE, frame
from support.cases import vectors
from wireloom.protocols.myriadmesh.codec import decode, encode
from wireloom.protocols.myriadmesh.constants import BROADCAST_ID, Flags
from wireloom.protocols.myriadmesh.integrity import sign
from wireloom.protocols.myriadmesh.messages import Data, DataBatch, Frame, Sealed
from wireloom.protocols.myriadmesh.sealing import (
    compress,
    confirmation,
    is_confirmed,
    nonce_of,
    open_frame,
    seal_frame,
    session_keys,
)
from wireloom.wire.ciphers import hkdf, open_xsalsa, seal_xsalsa, x25519, x25519_public
from wireloom.wire.errors import DecryptFailedError, MalformedError

BOXES = [v for v in vectors("myriadmesh") if v.get("check") == "secretbox"]
OURS, THEIRS = b"\x11" * 32, b"\x22" * 32
KEY_BYTES = b"k" * 32


@pytest.mark.parametrize("vector", BOXES, ids=lambda vector: vector["name"])
def test_secretbox_vector_holds(vector: dict[str, Any]) -> None:
    expect = vector["expect"]
    key, nonce, plain = (bytes.fromhex(expect[name]) for name in ("key", "nonce", "plaintext"))
    assert seal_xsalsa(key, nonce, plain).hex() == vector["hex"]
    assert open_xsalsa(key, nonce, bytes.fromhex(vector["hex"])) == plain


def test_the_nonce_is_message_id_and_timestamp() -> None:
    assert nonce_of(frame(DATA)) == b"\x01" * 16 + NOW_MS.to_bytes(8, "big")


def test_both_sides_get_the_same_keys_the_other_way_round() -> None:
    us = session_keys(OURS, x25519_public(THEIRS), own_id=SOURCE, peer_id=PEER)
    them = session_keys(THEIRS, x25519_public(OURS), own_id=PEER, peer_id=SOURCE)
    assert us.tx_key == them.rx_key
    assert us.rx_key == them.tx_key
    assert us.tx_key != us.rx_key


def test_the_node_with_the_smaller_id_is_a() -> None:
    assert PEER < SOURCE
    keys = session_keys(OURS, x25519_public(THEIRS), own_id=PEER, peer_id=SOURCE)
    secret = x25519(OURS, x25519_public(THEIRS))
    assert keys.tx_key == hkdf(secret, salt=PEER + SOURCE, info=b"MyriadMesh-v1-A-to-B")
    assert keys.rx_key == hkdf(secret, salt=PEER + SOURCE, info=b"MyriadMesh-v1-B-to-A")


def test_a_node_has_no_session_with_itself() -> None:
    with pytest.raises(MalformedError):
        session_keys(OURS, x25519_public(THEIRS), own_id=PEER, peer_id=PEER)


def test_a_public_key_without_a_secret_is_refused() -> None:
    with pytest.raises(DecryptFailedError):
        session_keys(OURS, bytes(32), own_id=SOURCE, peer_id=PEER)


def test_a_confirmation_shows_that_the_other_side_has_the_keys() -> None:
    assert confirmation(KEY_BYTES) == digest(KEY_BYTES, b"confirm", "sha256")
    assert is_confirmed(KEY_BYTES, confirmation(KEY_BYTES))
    assert not is_confirmed(KEY_BYTES, confirmation(b"other" * 6))


def test_a_sealed_frame_opens_to_what_it_was() -> None:
    sealed = seal_frame(frame(DATA), KEY_BYTES)
    assert sealed.flags == Flags.ENCRYPTED
    assert isinstance(sealed.payload, Sealed)
    assert len(sealed.payload.ciphertext) == 16 + 19
    assert open_frame(sealed, KEY_BYTES) == frame(DATA)


def test_a_sealed_frame_goes_over_the_wire_signed() -> None:
    raw = encode(sign(seal_frame(compress(LONG), KEY_BYTES), KEY))
    message = decode(raw)
    assert isinstance(message, Frame)
    assert message.flags == Flags.ENCRYPTED | Flags.COMPRESSED | Flags.SIGNED
    assert message.compressed is None
    assert open_frame(message, KEY_BYTES) == compress(LONG)


def test_sealing_comes_after_compression() -> None:
    assert len(encode(seal_frame(compress(LONG), KEY_BYTES))) < 170


def test_sealing_and_opening_take_the_signature_off() -> None:
    assert seal_frame(sign(frame(DATA), KEY), KEY_BYTES).signature is None
    opened = open_frame(sign(seal_frame(frame(DATA), KEY_BYTES), KEY), KEY_BYTES)
    assert opened == frame(DATA)


@pytest.mark.parametrize(
    "changes", [{"message_id": bytes(16)}, {"timestamp": 0}, {"payload": Sealed(ciphertext=b"")}]
)
def test_a_changed_frame_does_not_open(changes: dict[str, Any]) -> None:
    with pytest.raises(DecryptFailedError):
        open_frame(replace(seal_frame(frame(DATA), KEY_BYTES), **changes), KEY_BYTES)


def test_another_key_does_not_open_it() -> None:
    with pytest.raises(DecryptFailedError):
        open_frame(seal_frame(frame(DATA), KEY_BYTES), b"x" * 32)


def test_what_was_sealed_must_be_a_payload() -> None:
    ciphertext = seal_xsalsa(KEY_BYTES, nonce_of(frame(DATA)), b"\x05reserved")
    forged = frame(DATA, flags=Flags.ENCRYPTED, payload=Sealed(ciphertext=ciphertext))
    with pytest.raises(MalformedError, match="content_type"):
        open_frame(forged, KEY_BYTES)


def test_a_broadcast_is_not_sealed() -> None:
    with pytest.raises(MalformedError, match="broadcast"):
        seal_frame(frame(DATA, flags=Flags.BROADCAST, dest_node_id=BROADCAST_ID), KEY_BYTES)


def test_a_sealed_frame_is_not_sealed_again_and_a_plain_one_not_opened() -> None:
    with pytest.raises(MalformedError, match="sealed already"):
        seal_frame(seal_frame(frame(DATA), KEY_BYTES), KEY_BYTES)
    with pytest.raises(MalformedError, match="is not sealed"):
        open_frame(frame(DATA), KEY_BYTES)


def test_a_sealed_batch_opens() -> None:
    batch = frame(DataBatch(messages=(frame(DATA), LONG)))
    assert open_frame(seal_frame(batch, KEY_BYTES), KEY_BYTES) == batch


def test_compression_that_saves_little_is_left_out() -> None:
    assert compress(frame(DATA)) == frame(DATA)
    assert isinstance(LONG.payload, Data)
    assert Flags.COMPRESSED in compress(LONG).flags


def test_a_compressed_or_sealed_frame_is_not_compressed_again() -> None:
    once = compress(LONG)
    assert compress(once) is once
    sealed = seal_frame(LONG, KEY_BYTES)
    assert compress(sealed) is sealed


def test_compression_takes_the_signature_off() -> None:
    assert compress(sign(LONG, KEY)).signature is None
