"""Ed25519 behind its face."""

import pytest
from nacl.exceptions import CryptoError

from wireloom.wire.ciphers import x25519, x25519_public
from wireloom.wire.keys import SigningKey, exchange_public_key, is_valid, uid, verify

SEED = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
KEY = SigningKey(SEED)


def test_a_seed_gives_the_key_of_rfc_8032() -> None:
    assert KEY.public.hex() == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"


def test_a_signature_holds_for_its_data_and_key_only() -> None:
    signature = KEY.sign(b"data")
    assert verify(KEY.public, b"data", signature)
    assert not verify(KEY.public, b"date", signature)
    assert not verify(bytes(31) + b"\1", b"data", signature)
    assert not verify(KEY.public, b"data", bytes(64))
    assert not verify(KEY.public, b"data", signature[:-1])
    assert not verify(b"short", b"data", signature)


def test_a_point_of_small_order_is_no_public_key() -> None:
    assert is_valid(KEY.public)
    for point in (bytes(32), b"\1" + bytes(31), b"\xff" * 32, b"short", KEY.public + b"\0"):
        assert not is_valid(point)


def test_an_identity_can_agree_on_a_secret() -> None:
    other = SigningKey(bytes(32))
    ours = x25519(KEY.exchange_key(), exchange_public_key(other.public))
    assert ours == x25519(other.exchange_key(), exchange_public_key(KEY.public))
    assert x25519_public(KEY.exchange_key()) == exchange_public_key(KEY.public)


def test_a_key_that_is_no_point_gives_no_exchange_key() -> None:
    with pytest.raises(CryptoError):
        exchange_public_key(b"\2" + bytes(31))


def test_the_secret_does_not_show() -> None:
    assert SEED.hex() not in repr(KEY)
    assert KEY.public.hex() in repr(KEY)


def test_uid() -> None:
    assert uid(KEY.public).hex() == (
        "21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9"
    )
